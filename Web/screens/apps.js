// Remote control: what is locked on a computer, and what this device asks of it.
import { element, keyed } from "../views/element.js";
import { everySecond, live } from "../views/live.js";
import { button, empty, iconButton, searchField } from "../views/parts.js";
import { named } from "../views/words.js";
import { addApp } from "./app-commands.js";
import { AppDetail } from "./app-detail.js";
import { tickStates } from "./app-state.js";
import { AppsList } from "./apps-list.js";
import { Flight } from "./commanding.js";
import { choose, chosenOf, picker } from "./computers.js";
import { lockActions } from "./home-actions.js";
import { noSuchApp, scheduleEditor } from "./schedule-editor.js";

/** @typedef {import("../core/bodies.js").ComputerApps} ComputerApps */
/** @typedef {import("../core/household.js").Computer} Computer */
/** @typedef {import("../views/shell.js").Context} Context */

/** Room for an app beside the list. */
const wide = matchMedia("(min-width: 68rem)");

/**
 * `apps`, `apps/COMPUTER/APP`, `apps/COMPUTER/APP/schedule`.
 * @type {import("../views/shell.js").Screen}
 */
export async function apps(context) {
    const { companion, signal, parts: [named, app, part] } = context;
    const computers = await companion.household.computers();
    const computer = computers.find(({ id }) => id === named) ?? (await chosenOf(companion, computers));
    if (!computer) {
        live(companion, ["status"], async () => {
            if ((await companion.household.computers()).length > 0 && !signal.aborted) context.go("apps", { replace: true });
        }, signal);
        return { title: "Apps", body: [empty("computer", "No computer has reported yet", "Its list shows up here as soon as it is on and reaches the hub.")] };
    }
    if (part === "schedule") return schedulePage(context, computer, app);
    /** @type {string | null} */
    let shown = app ?? null;
    wide.addEventListener("change", () => context.go(address(computer.id, shown), { replace: true }), { signal });
    if (app && !wide.matches) return detailPage(context, computer, app);
    return listPage(context, computers, computer, app ?? null, (id) => {
        shown = id;
    });
}

/** @param {string} computer @param {string | null} app */
const address = (computer, app) => (app ? `apps/${computer}/${encodeURIComponent(app)}` : "apps");

/**
 * @param {Context} context
 * @param {Computer} computer
 * @param {string} id
 */
async function schedulePage(context, computer, id) {
    const app = (await context.companion.household.apps(computer.id)).find((one) => one.id === id);
    return app ? scheduleEditor(context, computer, app) : { title: "Schedule", back: "apps", body: [noSuchApp()] };
}

/**
 * @param {Context} context
 * @param {Computer} computer
 * @param {string} id
 */
async function detailPage(context, computer, id) {
    const { companion, signal } = context;
    const detail = new AppDetail(context, computer, id);
    everySecond(() => tickStates(detail.element, companion.device.time.now()), signal);
    let name = "";
    await live(companion, ["apps"], async () => {
        const list = await companion.household.appList(computer.id);
        if (signal.aborted) return;
        name = list?.apps.find((one) => one.id === id)?.name ?? name;
        detail.show(list);
    }, signal);
    return { title: named(name) || "App", back: "apps", body: [detail.element] };
}

/**
 * @param {Context} context
 * @param {Computer[]} computers
 * @param {Computer} computer
 * @param {string | null} app shown beside the list
 * @param {(app: string | null) => void} shows
 */
async function listPage(context, computers, computer, app, shows) {
    const { companion, signal } = context;
    /** @type {ComputerApps | null} */
    let list = null;
    let [words, chosen] = ["", app];
    const flight = new Flight(companion, signal, () => {
        for (const node of [lock, unlock, add]) node.disabled = flight.isUnderWay || !list;
    });
    const { lockAll, unlockAll } = lockActions(context, () => computer, flight);
    const lock = button("Lock all", lockAll, { icon: "lock", kind: "primary" });
    const unlock = button("Unlock all", unlockAll, { icon: "unlock" });
    const add = iconButton("plus", "Lock another app", () => addApp(context, computer, list?.others ?? [], flight));
    const pane = element("aside", { class: "apps-pane", "aria-label": "The chosen app" });
    /** @type {AppDetail | null} */
    let detail = null;
    /** @param {string} id */
    const select = (id) => {
        chosen = id;
        shows(id);
        history.replaceState(null, "", `#/${address(computer.id, id)}`);
        detail = new AppDetail(context, computer, id);
        pane.replaceChildren(detail.element);
        draw();
    };
    const sections = new AppsList(context, computer, wide.matches ? ({ id }) => {
        select(id);
        /** @type {HTMLElement | null} */ (sections.element.querySelector("[aria-current]"))?.focus();
    } : null);
    const waits = element("div", {});
    const draw = () => {
        keyed(waits, list ? [] : [0], String, () => empty("apps", "The list has not arrived yet", "It comes as soon as the computer is on and reaches the hub."));
        if (list) sections.show(list, words, chosen);
        detail?.show(list);
        for (const node of [lock, unlock, add]) node.disabled = flight.isUnderWay || !list;
    };
    if (wide.matches) {
        if (chosen) {
            detail = new AppDetail(context, computer, chosen);
            pane.replaceChildren(detail.element);
        } else pane.replaceChildren(empty("apps", "Choose an app", "Its lock, schedule and categories are shown here."));
    }
    everySecond(() => {
        for (const place of [sections.element, pane]) tickStates(place, companion.device.time.now());
    }, signal);
    await live(companion, ["apps"], async () => {
        list = await companion.household.appList(computer.id);
        if (!signal.aborted) draw();
    }, signal);
    return {
        title: "Apps", actions: [add],
        body: [element("div", { class: "apps" }, element("div", { class: "apps-part" },
            picker(computers, computer.id, async (id) => {
                await choose(companion, id);
                context.go("apps", { replace: true });
            }),
            searchField("Search locked apps", (typed) => {
                words = typed;
                draw();
            }),
            element("div", { class: "buttons buttons-even" }, lock, unlock), flight.element, waits, sections.element), wide.matches && pane)],
    };
}
