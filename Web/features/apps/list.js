// A computer's list of apps by category. A row changes only when the computer reports the new state.
import { groupBy } from "../../household/group-by.js";
import { element, keyed } from "../../ui/element.js";
import { appTile, empty, iconButton } from "../../ui/parts.js";
import { onLongPress } from "../../ui/long-press.js";
import { choose } from "../../ui/sheet.js";
import { named } from "../../ui/words.js";
import { lockApp, unlockApp } from "./commands.js";
import { stateBadge, stateWords } from "./state.js";
import { CommandProgress, markBusy } from "../../ui/command-progress.js";
import { scheduleWords } from "./schedule.js";

/** @typedef {import("../../formats/record-bodies.js").RemoteApp} RemoteApp */
/** @typedef {import("../../formats/record-bodies.js").ComputerApps} ComputerApps */
/** @typedef {import("./commands.js").Named} Named */

export class AppsList {
    /** @type {Map<string, CommandProgress>} under way, by app */
    #progresses = new Map();
    #context;
    #computer;
    #open;

    /**
     * @param {Context} context
     * @param {Named} computer
     * @param {((app: RemoteApp) => void) | null} open shows it beside the list; null: its link leads to it
     */
    constructor(context, computer, open) {
        this.#context = context;
        this.#computer = computer;
        this.#open = open;
        this.element = element("div", { class: "apps-sections" });
    }

    /**
     * @param {ComputerApps} list
     * @param {string} words those that are searched
     * @param {string | null} chosen the app that is shown beside
     * @param {Map<string, string>} icons
     */
    show(list, words, chosen, icons) {
        const wanted = words.toLocaleLowerCase().trim();
        const found = list.apps.filter(({ id, name, categories }) =>
            `${name}\n${id}\n${categories.join("\n")}`.toLocaleLowerCase().includes(wanted));
        // Under the first of its categories.
        const sections = groupBy(found.sort((one, other) => one.name.localeCompare(other.name)),
            ({ categories }) => [...categories].sort((one, other) => one.localeCompare(other))[0] ?? "");
        // Apps without a category are last.
        const inOrder = [...sections]
            .sort(([one], [other]) => Number(!one) - Number(!other) || one.localeCompare(other))
            .map(([name, apps]) => ({
                name, apps, schedule: list.categories?.find((category) => category.name === name)?.schedule ?? "",
            }));
        const isAlone = inOrder.length === 1 && inOrder[0].name === "";
        keyed(this.element, inOrder.length ? inOrder : [null], (one) => (one ? `=${one.name}` : "none"), (one) => (one
            ? element("section", { class: "section" },
                element("div", { class: "section-head" }, element("h2", { class: "section-title", dir: "auto" },
                    one.name || (isAlone ? "Locked apps" : "No category")),
                    one.schedule && element("span", { class: "soft note" }, scheduleWords(one.schedule))),
                element("ul", { class: "card rows" }))
            : wanted ? empty("search", "Nothing found", "No app on the list has this name.")
                : empty("apps", "No app is locked", "Add the first one with the plus sign above.")),
        (one) => (one ? `${one.schedule} ${isAlone}` : String(wanted !== "")));
        for (const [index, { apps }] of inOrder.entries()) {
            keyed(/** @type {Element} */ (this.element.children[index].lastElementChild), apps, ({ id }) => id,
                (app) => this.#row(app, app.id === chosen, icons.get(app.id)),
                (app) => JSON.stringify([app, app.id === chosen, icons.get(app.id)]));
        }
    }

    /** @param {string} id */
    #progress(id) {
        let progress = this.#progresses.get(id);
        if (!progress) {
            /** @type {CommandProgress} */
            const made = new CommandProgress(this.#context.companion, this.#context.signal, () =>
                markBusy(made.element.parentElement?.querySelectorAll("button") ?? [], made));
            progress = made;
            this.#progresses.set(id, progress);
        }
        return progress;
    }

    /** @param {RemoteApp} app @param {boolean} isChosen @param {string} [icon] */
    #row(app, isChosen, icon) {
        const [context, computer, progress] = [this.#context, this.#computer, this.#progress(app.id)];
        const name = named(app.name);
        const act = app.state === "unlocked"
            ? iconButton("lock", `Lock ${name}`, () => lockApp(context, computer, app, progress))
            : app.state === "locked" ? iconButton("unlock", `Unlock ${name}`,
                () => unlockApp(context, computer, app, progress)) : null;
        if (act) markBusy([act], progress);
        const menu = () => this.#menu(app, progress);
        const link = element("a", {
            class: "row apps-link", href: `#/apps/${computer.id}/${encodeURIComponent(app.id)}`,
            "aria-current": isChosen && "true",
            onclick: (/** @type {MouseEvent} */ event) => {
                if (!this.#open || event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                this.#open(app);
            },
        }, appTile(app.name, icon), element("span", { class: "row-text" },
            element("span", { class: "row-title", dir: "auto" }, app.name),
            element("span", { class: "row-note", dir: "auto" },
                app.state === "locked" ? scheduleWords(app.schedule) : stateWords(app))),
        stateBadge(app, context.companion.now()));
        onLongPress(link, menu);
        return element("li", { class: "apps-row" },
            element("div", { class: "apps-line" }, link, act, iconButton("more", `More for ${name}`, menu)),
            progress.element);
    }

    /** @param {RemoteApp} app @param {CommandProgress} progress */
    async #menu(app, progress) {
        const [context, computer] = [this.#context, this.#computer];
        const chosen = await choose(named(app.name), [
            ...(app.state === "unlocked" ? [{ value: "lock", label: "Lock" }] : []),
            ...(["locked", "unlocked"].includes(app.state) ? [{ value: "unlock", label: "Unlock for…" }] : []),
            { value: "schedule", label: "Schedule" }, { value: "details", label: "Details" },
        ], context.signal);
        const address = `apps/${computer.id}/${encodeURIComponent(app.id)}`;
        switch (chosen) {
            case "lock": return lockApp(context, computer, app, progress);
            case "unlock": return unlockApp(context, computer, app, progress);
            case "schedule": return context.go(`${address}/schedule`);
            case "details": return this.#open ? this.#open(app) : context.go(address);
        }
    }
}
