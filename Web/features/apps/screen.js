// Remote control of a computer's locked apps.
import { element, keyed } from "../../ui/element.js";
import { everySecond, live } from "../../ui/live.js";
import { button, empty, iconButton, searchField } from "../../ui/parts.js";
import { named } from "../../ui/words.js";
import { addApp } from "./commands.js";
import { AppDetail } from "./detail.js";
import { tickStates } from "./state.js";
import { AppsList } from "./list.js";
import { CommandProgress, markBusy } from "../../ui/command-progress.js";
import { chooseComputer, chosenComputer, computerPicker } from "../../ui/computer-choice.js";
import { lockActions } from "../../ui/computer-actions.js";
import { redrawAtWidth } from "../../ui/width.js";
import { noSuchApp, scheduleEditor } from "./schedule-editor.js";

/** @typedef {import("../../formats/record-bodies.js").ComputerApps} ComputerApps */
/** @typedef {import("../../household/household.js").Computer} Computer */

/** Room for an app beside the list. */
const wide = matchMedia("(min-width: 68rem)");

/** @type {AppScreen} `apps`, `apps/COMPUTER/APP`, `apps/COMPUTER/APP/schedule` */
export async function apps(context) {
    const { companion, signal, parts: [named, app, part] } = context;
    const computers = await companion.household.computers();
    const computer = computers.find(({ id }) => id === named) ?? (await chosenComputer(companion, computers));
    if (!computer) {
        live(companion, ["status"], async () => {
            const { length } = await companion.household.computers();
            return length > 0 ? () => context.go("apps", { replace: true }) : null;
        }, signal);
        return {
            title: "Apps", body: [empty("computer", "No computer has reported yet",
                "The list appears here once a computer is running and connected to the hub.")],
        };
    }
    if (part === "schedule") return schedulePage(context, computer, app);
    redrawAtWidth(context, wide);
    if (app && !wide.matches) return detailPage(context, computer, app);
    return listPage(context, computers, computer, app ?? null);
}

/** @param {Context} context @param {Computer} computer @param {string} id */
async function schedulePage(context, computer, id) {
    const app = (await context.companion.household.apps(computer.id)).find((one) => one.id === id);
    return app ? scheduleEditor(context, computer, app) : { title: "Schedule", back: "apps", body: [noSuchApp()] };
}

/** @param {Context} context @param {Computer} computer @param {string} id */
async function detailPage(context, computer, id) {
    const { companion, signal } = context;
    const detail = new AppDetail(context, computer, id);
    everySecond(() => tickStates(detail.element, companion.now()), signal);
    let name = "";
    await followApps(context, computer.id, (list, icons) => {
        name = list?.apps.find((one) => one.id === id)?.name ?? name;
        detail.show(list, icons);
    });
    return { title: named(name) || "App", back: "apps", body: [detail.element] };
}

/**
 * Calls `show` with the first list and icons, and after each change of one of them.
 * @param {Context} context
 * @param {string} computer
 * @param {(list: ComputerApps | null, icons: Map<string, string>) => void} show
 */
async function followApps({ companion, signal }, computer, show) {
    /** @type {ComputerApps | null | undefined} undefined: not read yet */
    let list;
    /** @type {Map<string, string>} */
    let icons = new Map();
    const draw = () => {
        if (list !== undefined) show(list, icons);
    };
    // One after the other, so that the list is drawn with its icons at first.
    await live(companion, ["icons"], async () => {
        icons = await companion.household.icons(computer);
        return draw;
    }, signal);
    await live(companion, ["apps"], async () => {
        list = await companion.household.appList(computer);
        return draw;
    }, signal);
}

/**
 * @param {Context} context
 * @param {Computer[]} computers
 * @param {Computer} computer
 * @param {string | null} app shown beside the list
 */
async function listPage(context, computers, computer, app) {
    const { companion, signal } = context;
    /** @type {ComputerApps | null} */
    let list = null;
    /** @type {Map<string, string>} */
    let icons = new Map();
    let [words, chosen] = ["", app];
    const progress = new CommandProgress(companion, signal, () => {
        markBusy([lock, unlock, add], progress);
    });
    const { lockAll, unlockAll } = lockActions(context, () => computer, progress);
    const lock = button("Lock all", lockAll, { icon: "lock", kind: "primary" });
    const unlock = button("Unlock all", unlockAll, { icon: "unlock" });
    const add = iconButton("plus", "Lock another app", () => addApp(context, computer, list?.others ?? [], progress));
    const pane = element("aside", { class: "apps-pane", "aria-label": "Selected app" });
    /** @type {AppDetail | null} */
    let detail = null;
    /** @param {string} id */
    const select = (id) => {
        chosen = id;
        history.replaceState(history.state, "", `#/apps/${computer.id}/${encodeURIComponent(id)}`);
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
        keyed(waits, list ? [] : [0], String, () => empty("apps", "The list has not arrived yet",
            "It appears once the computer is running and connected to the hub."));
        if (list) sections.show(list, words, chosen, icons);
        detail?.show(list, icons);
        for (const node of [lock, unlock, add]) node.disabled = !list;
    };
    if (wide.matches) {
        if (chosen) {
            detail = new AppDetail(context, computer, chosen);
            pane.replaceChildren(detail.element);
        } else pane.replaceChildren(empty("apps", "Choose an app",
            "Its lock, schedule and categories are shown here."));
    }
    everySecond(() => {
        for (const place of [sections.element, pane]) tickStates(place, companion.now());
    }, signal);
    await followApps(context, computer.id, (...newest) => {
        [list, icons] = newest;
        draw();
    });
    return {
        title: "Apps", actions: [add],
        body: [element("div", { class: "apps" }, element("div", { class: "apps-part" },
            computerPicker(computers, computer.id, async (id) => {
                await chooseComputer(companion, id);
                context.go("apps", { replace: true });
            }),
            searchField("Search locked apps", (typed) => {
                words = typed;
                draw();
            }),
            element("div", { class: "buttons buttons-even" }, lock, unlock), progress.element, waits, sections.element),
            wide.matches && pane)],
    };
}
