// One app of a computer's list: its state, when it is locked, and what can be asked about it.
import { element, keyed } from "../views/element.js";
import { badge, button, letter, row, rows, section } from "../views/parts.js";
import { named } from "../views/words.js";
import { changeCategories, lockApp, removeApp, unlockApp } from "./app-commands.js";
import { stateBadge, stateWords } from "./app-state.js";
import { Flight } from "./commanding.js";
import { noSuchApp } from "./schedule-editor.js";
import { scheduleWords } from "./schedule.js";

/** @typedef {import("../core/bodies.js").RemoteApp} RemoteApp */
/** @typedef {import("../core/bodies.js").ComputerApps} ComputerApps */
/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("./app-commands.js").Named} Named */

export class AppDetail {
    #context;
    #computer;
    #id;
    #flight;
    #place = element("div", { class: "apps-part" });

    /**
     * @param {Context} context
     * @param {Named} computer
     * @param {string} id the app's
     */
    constructor(context, computer, id) {
        this.#context = context;
        this.#computer = computer;
        this.#id = id;
        this.#flight = new Flight(context.companion, context.signal, () => {
            for (const node of this.#place.querySelectorAll("button")) node.disabled = this.#flight.isUnderWay;
        });
        this.element = element("div", { class: "apps-detail" }, this.#place, this.#flight.element);
    }

    /**
     * What the computer says now.
     * @param {ComputerApps | null} list
     */
    show(list) {
        const app = list?.apps.find(({ id }) => id === this.#id);
        keyed(this.#place, [app ? { app, categories: list?.categories } : null], () => "only", () => (app
            ? this.#parts(app, list?.categories?.map(({ name }) => name) ?? []) : noSuchApp()));
        for (const node of this.#place.querySelectorAll("button")) node.disabled = this.#flight.isUnderWay;
    }

    /** @param {RemoteApp} app @param {string[]} categories */
    #parts(app, categories) {
        const [context, computer, flight] = [this.#context, this.#computer, this.#flight];
        const unlock = button(app.state === "unlocked" ? "Unlock for another time" : "Unlock", () => unlockApp(context, computer, app, flight), { icon: "unlock" });
        const lock = app.state === "unlocked" && button("Lock", () => lockApp(context, computer, app, flight), { icon: "lock", kind: "primary" });
        const remove = button("Remove from the list", async () => {
            const reply = await removeApp(context, computer, app, flight);
            if (reply?.state === "done" && !context.signal.aborted) {
                context.tell(reply.sentence);
                context.go("apps", { replace: true });
            }
        }, { kind: "danger", wide: true, icon: "trash" });
        return element("div", { class: "apps-part" },
            element("div", { class: "card" }, element("div", { class: "card-body" },
                element("div", { class: "apps-head" }, letter(app.name),
                    element("div", { class: "row-text" }, element("p", { class: "row-title", dir: "auto" }, app.name),
                        element("p", { class: "row-note", dir: "auto" }, `${stateWords(app)}, on ${named(computer.name)}`)), stateBadge(app, context.companion.device.time.now())),
                element("div", { class: "buttons buttons-even" }, lock, unlock))),
            section("When it is locked", [rows(row({
                title: scheduleWords(app.schedule), note: app.schedule ? "Its own schedule" : "No schedule of its own",
                href: `#/apps/${computer.id}/${encodeURIComponent(app.id)}/schedule`,
            }))]),
            section("Categories", [element("div", { class: "card rows" }, element("button", {
                type: "button", class: "row", onclick: () => changeCategories(context, computer, app, categories, flight),
            }, element("span", { class: "row-text" }, app.categories.length
                ? element("span", { class: "apps-categories" }, ...app.categories.map((name) => badge(name))) : "In no category"),
            element("span", { class: "row-end" }, "Change")))]),
            remove);
    }
}
