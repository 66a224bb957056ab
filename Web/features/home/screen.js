// Home: pending launches, the computer with its actions, what could be stronger, intruder photos and the latest blocks.
import { drawn, element, keyed } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { everySecond, live, redrawing, whenChanged } from "../../ui/live.js";
import { empty, iconButton, row, rows, section, tile } from "../../ui/parts.js";
import { ago, named, sentenceOf } from "../../ui/words.js";
import { mergeAlerts } from "../../household/merge-alerts.js";
import { chooseComputer, chosenComputer, followPresence, lastSeen } from "../../ui/computer-choice.js";
import { computerCard, weaknessesOf } from "./computer.js";
import { quickActions } from "../../ui/computer-actions.js";
import { checks, checksRow } from "./checks.js";
import { recoveryCheck } from "./recovery.js";
import { LaunchCard } from "../../ui/launch-card.js";

/** @typedef {import("../../household/household.js").Computer} Computer */

const lastBlocks = 5;
/** Alerts that are searched for the latest blocks. */
const lookedThrough = 100;

/** @type {AppScreen} */
export async function home(context) {
    const { companion, signal } = context;
    if (context.parts[0] === "checks") return checks(context);
    const overview = element("div", { class: "home-main" });
    const aside = element("div", { class: "home-side" });
    const refresh = iconButton("refresh", "Refresh", async () => {
        try {
            await companion.refresh();
            if (!signal.aborted) context.toast("Up to date.");
        } catch (error) {
            if (!signal.aborted) context.toast(sentenceOf(error));
        }
    });
    if (!companion.hasComputer) {
        // Home has other parts once a computer joins.
        companion.addEventListener("roster", () => companion.hasComputer && context.go("home", { replace: true }),
            { signal });
        const { everlineHome } = await import("./everline-home.js");
        return { title: "Home", actions: [refresh], body: [element("div", { class: "home" },
            ...(await everlineHome(context)))] };
    }
    const [today, next, checked, photos, blocks] = [0, 1, 2, 3, 4].map(() => element("div", { class: "home-part" }));
    aside.append(...[await recoveryCheck(context), next, photos, blocks].flatMap((part) => part ?? []));
    const launches = waitingLaunches(context);
    const drawComputers = followComputers(context, overview);
    overview.prepend(today);
    overview.append(checked);
    await Promise.all([
        drawComputers, launches.ready, checksRow(context, checked),
        import("./dates.js").then(({ followDates }) => followDates(context, today, next)),
        live(companion, ["intruders"], () => readPhotos(context, photos), signal),
        live(companion, ["events"], () => readBlocks(context, blocks), signal),
    ]);
    return {
        title: "Home", actions: [refresh],
        body: [element("div", { class: "home" }, launches.element,
            element("div", { class: "home-columns" }, overview, aside))],
    };
}

/**
 * Cards of pending and just answered launches.
 * @param {Context} context
 */
function waitingLaunches(context) {
    const { companion, signal } = context;
    const list = element("div", {
        class: "home-launches", role: "region", "aria-label": "Waiting launches", "aria-live": "polite", hidden: true,
    });
    /** @type {Map<string, LaunchCard>} */
    const cards = new Map();
    const read = async () => {
        const waiting = await companion.household.launches();
        return () => {
            const known = new Set(waiting.map(({ id }) => id));
            for (const launch of waiting) {
                if (!cards.has(launch.id)) cards.set(launch.id, new LaunchCard(context, launch));
            }
            for (const [id, card] of cards) {
                if (!known.has(id) && (!card.isAnswered || card.isRead)) cards.delete(id);
            }
            list.hidden = cards.size === 0;
            keyed(list, [...cards.values()], ({ id }) => id, (card) => card.element, () => "");
        };
    };
    const update = redrawing(read, signal);
    whenChanged(companion, ["requests"], update, signal);
    everySecond(() => {
        for (const card of cards.values()) card.tick();
        if ([...cards.values()].some((card) => card.isTimeOver || card.isAnswered)) update();
    }, signal);
    return { element: list, ready: update() };
}

/**
 * The list of computers if there are several, the chosen one's card and actions.
 * @param {Context} context
 * @param {HTMLElement} overview
 */
async function followComputers(context, overview) {
    const { companion, signal } = context;
    /** @type {import("../../ui/computer-choice.js").Presence} */
    let presence = new Map();
    /** @type {Computer[]} */
    let computers = [];
    /** @type {Computer | null} */
    let chosen = null;
    const list = element("div", { class: "home-part" });
    const place = element("div", { class: "home-part" });
    const actions = quickActions(context, () => chosen);
    const draw = () => {
        const seen = computers.map((computer) => lastSeen(companion, computer, presence));
        // Unchanged parts are kept, for the focus and screen readers.
        const minute = Math.floor(companion.now() / 60_000);
        drawn(list, computers.length > 1 && [computers, seen, chosen?.id, minute], () =>
            computerList(computers, chosen, seen, async (id) => {
                await chooseComputer(companion, id);
                await update();
                /** @type {HTMLElement | null} */ (list.querySelector("[aria-pressed=true]"))?.focus();
            }));
        drawn(place, [computers, seen, chosen?.id, minute], () =>
            (chosen ? computerCard(companion, chosen, seen[computers.indexOf(chosen)], computers) : noComputer()));
        actions.hidden = !chosen;
    };
    const read = async () => {
        const found = await companion.household.computers();
        const one = await chosenComputer(companion, found);
        return () => {
            // At once: what draws in between would look for the chosen one among others.
            [computers, chosen] = [found, one];
            draw();
        };
    };
    overview.append(list, place, actions);
    // Not by `read`: the connection is shown also while a report is being read.
    const redraw = redrawing(async () => draw, signal);
    followPresence(companion, (reported) => {
        presence = reported;
        redraw();
    }, signal);
    companion.addEventListener("connection", redraw, { signal });
    const timer = setInterval(() => !document.hidden && redraw(), 20_000);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    const update = await live(companion, ["status"], read, signal);
}

const noComputer = () => empty("computer", "No computer has reported yet",
    "A computer appears here once it is running and connected to the hub.");

/**
 * @param {Computer[]} computers
 * @param {Computer | null} chosen
 * @param {(number | null)[]} seen
 * @param {(id: string) => void} pick
 */
function computerList(computers, chosen, seen, pick) {
    return section("Computers", [element("div", { class: "card rows", role: "group", "aria-label": "Computers" },
        ...computers.map((computer, index) => {
            const at = seen[index];
            const problems = weaknessesOf(computer).length;
            return element("button", {
                class: "row", type: "button", "aria-pressed": String(computer.id === chosen?.id),
                onclick: () => pick(computer.id),
            },
                tile("computer", problems ? "warning" : ""),
                element("span", { class: "row-text" },
                    element("span", { class: "row-title", dir: "auto" }, computer.name),
                    element("span", { class: "row-note" }, at === null ? "Online" : `Last seen ${ago(at)}`,
                        problems ? `, ${problems === 1 ? "1 warning" : `${problems} warnings`}` : "")),
                computer.id === chosen?.id && icon("check"));
        }))]);
}

/** @param {Context} context @param {HTMLElement} place */
async function readPhotos({ companion }, place) {
    const { length } = await companion.intruderPhotos.list();
    return () => drawn(place, [length], () => rows(row({
        start: tile("photo"), title: "Intruder photos", end: length ? String(length) : "None", href: "#/photos",
    })));
}

/** @param {Context} context @param {HTMLElement} place */
async function readBlocks(context, place) {
    const found = mergeAlerts((await context.companion.household.alerts({ limit: lookedThrough }))
        .filter(({ kind }) => kind === "blocked"));
    return () => {
        const all = element("a", { class: "home-link", href: "#/alerts" }, "All alerts");
        place.replaceChildren(section("Recently blocked", [found.length === 0
            ? empty("shield", "No recent blocked launches", "Launches of locked apps appear here immediately.")
            : rows(...found.slice(0, lastBlocks).map((alert) => row({
                start: tile("lock", "danger"), title: alert.appName ?? alert.app ?? "An app",
                note: `${named(alert.computerName)}, ${ago(alert.time / 1000)}`,
                href: `#/alerts?alert=${encodeURIComponent(alert.key)}`,
            })))], { end: all }));
    };
}
