// A computer's list by categories. Nothing is guessed: a row changes when the computer says so.
import { element, keyed } from "../views/element.js";
import { empty, iconButton, letter } from "../views/parts.js";
import { named } from "../views/words.js";
import { lockApp, unlockApp } from "./app-commands.js";
import { stateBadge, stateWords } from "./app-state.js";
import { Flight } from "./commanding.js";
import { scheduleWords } from "./schedule.js";

/** @typedef {import("../core/bodies.js").RemoteApp} RemoteApp */
/** @typedef {import("../core/bodies.js").ComputerApps} ComputerApps */
/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("./app-commands.js").Named} Named */

export class AppsList {
    /**
     * Under way, by app.
     * @type {Map<string, Flight>}
     */
    #flights = new Map();
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
     */
    show(list, words, chosen) {
        const wanted = words.toLocaleLowerCase().trim();
        const found = list.apps.filter(({ id, name, categories }) => `${name}\n${id}\n${categories.join("\n")}`.toLocaleLowerCase().includes(wanted));
        /** @type {Map<string, RemoteApp[]>} */
        const sections = new Map();
        for (const app of [...found].sort((one, other) => one.name.localeCompare(other.name))) {
            // In several: under the first of them.
            const name = [...app.categories].sort((one, other) => one.localeCompare(other))[0] ?? "";
            const known = sections.get(name);
            if (known) known.push(app);
            else sections.set(name, [app]);
        }
        // Those without a category come last.
        const inOrder = [...sections].sort(([one], [other]) => Number(!one) - Number(!other) || one.localeCompare(other))
            .map(([name, apps]) => ({ name, apps, schedule: list.categories?.find((category) => category.name === name)?.schedule ?? "" }));
        const isAlone = inOrder.length === 1 && inOrder[0].name === "";
        keyed(this.element, inOrder.length ? inOrder : [null], (one) => (one ? `=${one.name}` : "none"), (one) => (one
            ? element("section", { class: "section" },
                element("div", { class: "section-head" }, element("h2", { class: "section-title", dir: "auto" }, one.name || (isAlone ? "Locked apps" : "In no category")),
                    one.schedule && element("span", { class: "soft note" }, scheduleWords(one.schedule))),
                element("ul", { class: "card rows" }))
            : wanted ? empty("search", "Nothing found", "No app on the list has this name.")
                : empty("apps", "No app is locked", "Add the first one with the plus sign above.")),
        (one) => (one ? `${one.schedule} ${isAlone}` : String(wanted !== "")));
        for (const [index, { apps }] of inOrder.entries()) {
            keyed(/** @type {Element} */ (this.element.children[index].lastElementChild), apps, ({ id }) => id, (app) => this.#row(app, app.id === chosen),
                (app) => JSON.stringify([app, app.id === chosen]));
        }
    }

    /** @param {string} id */
    #flight(id) {
        let flight = this.#flights.get(id);
        if (!flight) {
            flight = new Flight(this.#context.companion, this.#context.signal, () => {
                const act = flight?.element.parentElement?.querySelector("button");
                if (act) act.disabled = flight?.isUnderWay ?? false;
            });
            this.#flights.set(id, flight);
        }
        return flight;
    }

    /** @param {RemoteApp} app @param {boolean} isChosen */
    #row(app, isChosen) {
        const [context, computer, flight] = [this.#context, this.#computer, this.#flight(app.id)];
        const name = named(app.name);
        const act = app.state === "unlocked"
            ? iconButton("lock", `Lock ${name}`, () => lockApp(context, computer, app, flight))
            : app.state === "locked" ? iconButton("unlock", `Unlock ${name}`, () => unlockApp(context, computer, app, flight)) : null;
        if (act) act.disabled = flight.isUnderWay;
        const link = element("a", {
            class: "row apps-link", href: `#/apps/${computer.id}/${encodeURIComponent(app.id)}`, "aria-current": isChosen && "true",
            onclick: (/** @type {MouseEvent} */ event) => {
                if (!this.#open || event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                this.#open(app);
            },
        }, letter(app.name), element("span", { class: "row-text" }, element("span", { class: "row-title", dir: "auto" }, app.name),
            element("span", { class: "row-note", dir: "auto" }, app.state === "locked" ? scheduleWords(app.schedule) : stateWords(app))),
        stateBadge(app, context.companion.device.time.now()));
        return element("li", { class: "apps-row" }, element("div", { class: "apps-line" }, link, act), flight.element);
    }
}
