// One app of a computer's list: its state, its schedule and its commands.
import { element, keyed } from "../../ui/element.js";
import { appTile, badge, button, row, rows, section } from "../../ui/parts.js";
import { named } from "../../ui/words.js";
import { changeCategories, lockApp, removeApp, unlockApp } from "./commands.js";
import { stateBadge, stateWords } from "./state.js";
import { CommandProgress, markBusy } from "../../ui/command-progress.js";
import { noSuchApp } from "./schedule-editor.js";
import { scheduleWords } from "./schedule.js";

/** @typedef {import("../../formats/record-bodies.js").RemoteApp} RemoteApp */
/** @typedef {import("../../formats/record-bodies.js").ComputerApps} ComputerApps */
/** @typedef {import("./commands.js").Named} Named */

export class AppDetail {
    #context;
    #computer;
    #id;
    #progress;
    #place = element("div", { class: "apps-part" });

    /** @param {Context} context @param {Named} computer @param {string} id the app's */
    constructor(context, computer, id) {
        this.#context = context;
        this.#computer = computer;
        this.#id = id;
        this.#progress = new CommandProgress(context.companion, context.signal, () => {
            markBusy(this.#place.querySelectorAll("button"), this.#progress);
        });
        this.element = element("div", { class: "apps-detail" }, this.#place, this.#progress.element);
    }

    /** @param {ComputerApps | null} list @param {Map<string, string>} icons */
    show(list, icons) {
        const app = list?.apps.find(({ id }) => id === this.#id);
        keyed(this.#place, [app ? { app, categories: list?.categories, icon: icons.get(app.id) } : null], () => "only",
            () => (app ? this.#parts(app, list?.categories?.map(({ name }) => name) ?? [], icons.get(app.id))
                : noSuchApp()));
        markBusy(this.#place.querySelectorAll("button"), this.#progress);
    }

    /** @param {RemoteApp} app @param {string[]} categories @param {string} [icon] */
    #parts(app, categories, icon) {
        const [context, computer, progress] = [this.#context, this.#computer, this.#progress];
        const unlock = button(app.state === "unlocked" ? "Choose the unlock duration" : "Unlock",
            () => unlockApp(context, computer, app, progress), { icon: "unlock" });
        const lock = app.state === "unlocked"
            && button("Lock", () => lockApp(context, computer, app, progress), { icon: "lock", kind: "primary" });
        const remove = button("Remove from the list", async () => {
            const reply = await removeApp(context, computer, app, progress);
            if (reply?.state === "done" && !context.signal.aborted) {
                context.toast(reply.sentence);
                context.go("apps", { replace: true });
            }
        }, { kind: "danger", wide: true, icon: "trash" });
        return element("div", { class: "apps-part" },
            element("div", { class: "card" }, element("div", { class: "card-body" },
                element("div", { class: "apps-head" }, appTile(app.name, icon),
                    element("div", { class: "row-text" }, element("p", { class: "row-title", dir: "auto" }, app.name),
                        element("p", { class: "row-note", dir: "auto" },
                            `${stateWords(app)}, on ${named(computer.name)}`)),
                            stateBadge(app, context.companion.now())),
                element("div", { class: "buttons buttons-even" }, lock, unlock))),
            section("Schedule", [rows(row({
                title: scheduleWords(app.schedule), note: app.schedule ? "Own schedule" : "No own schedule",
                href: `#/apps/${computer.id}/${encodeURIComponent(app.id)}/schedule`,
            }))]),
            section("Categories", [element("div", { class: "card rows" }, element("button", {
                type: "button", class: "row",
                onclick: () => changeCategories(context, computer, app, categories, progress),
            }, element("span", { class: "row-text" }, app.categories.length
                ? element("span", { class: "apps-categories" }, ...app.categories.map((name) => badge(name)))
                : "No category"),
            element("span", { class: "row-end" }, "Change")))]),
            section("Details", [rows(row({ title: "Computer", note: computer.name }),
                row({ title: "Identifier", note: app.id }))]),
            remove);
    }
}
