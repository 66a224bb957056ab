// Alerts by day.
import { element } from "../../ui/element.js";
import { redrawing } from "../../ui/live.js";
import { button, empty, iconButton, segments } from "../../ui/parts.js";
import { counted, sentenceOf } from "../../ui/words.js";
import { computerPicker } from "../../ui/computer-choice.js";
import { AlertFeed } from "./feed.js";
import { alertDetail, alertRow } from "./row.js";
import { AlertPhotos } from "./photo.js";
import { DayList } from "./day-list.js";
import { pullToRefresh } from "./pull-to-refresh.js";

/** @typedef {import("../../household/merge-alerts.js").MergedAlert} MergedAlert */
/** @typedef {"all" | "blocked" | "failed" | "system"} Filter */

/** @type {[Filter, string][]} */
const filters = [["all", "All"], ["blocked", "Blocked"], ["failed", "Failed"], ["system", "System"]];
/** @type {Record<Filter, (kind: string) => boolean>} */
const passes = {
    all: () => true, blocked: (kind) => kind === "blocked",
    failed: (kind) => kind === "failed" || kind === "photographed",
    system: (kind) => !["blocked", "failed", "photographed"].includes(kind),
};
/** @type {Record<Filter, [string, string]>} */
const nothing = {
    all: ["No alerts", "Blocked launches and other events of your computers appear here immediately."],
    blocked: ["No blocked launches", "Launches of locked apps appear here immediately."],
    failed: ["No wrong passcodes", "Wrong passcodes and intruder photos appear here."],
    system: ["No system events", "Starts, locks and changes of your computers appear here."],
};

/** @type {AppScreen} */
export async function alerts(context) {
    const { companion, signal, query } = context;
    const { household } = companion;
    const photos = new AlertPhotos(companion, signal);
    /** @type {Filter} */
    let filter = "all";
    const computers = await household.computers();
    const namesComputer = computers.length > 1;
    /** The computer whose alerts are shown; "": all. */
    let computer = "";

    /** @param {() => Promise<void>} change @param {string} done @param {() => Promise<void>} undo */
    const undoable = async (change, done, undo) => {
        try {
            await change();
            if (!signal.aborted) {
                context.toast(done, { undo: () => undo().catch((error) => context.toast(sentenceOf(error))) });
            }
        } catch (error) {
            if (!signal.aborted) context.toast(sentenceOf(error));
        }
    };
    /** @param {MergedAlert} alert */
    const remove = async (alert) => {
        const rows = [...list.element.querySelectorAll(".alert-main")];
        const focused = document.activeElement;
        const at = rows.findIndex((row) => row.closest(".alert")?.contains(focused));
        await undoable(() => household.hideAlerts(alert.keys), "Alert deleted.",
            () => household.hideAlerts(alert.keys, false));
        // The focus moves to the next one.
        const next = rows[at + 1] ?? rows[at - 1];
        if (at >= 0 && next instanceof HTMLElement && next.isConnected) next.focus({ preventScroll: true });
    };
    /** @param {MergedAlert} alert */
    const open = (alert) => alertDetail(alert, { remove: () => remove(alert), photo: photos.of(alert) }, signal);
    const list = new DayList((/** @type {MergedAlert} */ alert) =>
        alertRow(alert, {
            open: () => open(alert), remove: () => remove(alert), photo: photos.of(alert), namesComputer,
        }), signal);
    const none = element("div", { hidden: true });
    const older = element("p", { class: "caption", hidden: true });
    const failure = element("div", { hidden: true });
    const status = element("p", { class: "visually-hidden", role: "status" });
    const feed = new AlertFeed(companion, redrawing(async () => draw, signal), signal);
    const draw = () => {
        const shown = feed.alerts.filter((alert) =>
            passes[filter](alert.kind) && (computer === "" || alert.computer === computer));
        list.show(shown);
        // Older ones that pass may still be read.
        none.hidden = shown.length > 0 || !feed.isComplete;
        if (!none.hidden) none.replaceChildren(empty("bell", ...nothing[filter]));
        clear.disabled = feed.newest === 0;
        older.hidden = feed.isComplete || feed.problem !== null;
        older.textContent = "Reading older alerts…";
        failure.hidden = feed.problem === null;
        if (!failure.hidden) failure.replaceChildren(...unread(feed));
        // Not the number of a part.
        status.textContent = feed.isComplete ? counted(shown.length, "alert") : "";
    };
    const refresh = async () => {
        try {
            await companion.refresh();
        } catch (error) {
            if (!signal.aborted) context.toast(sentenceOf(error));
        }
    };
    const clear = iconButton("trash", "Clear all alerts", async () => {
        const [newest, before] = [feed.newest, await household.clearedAlerts()];
        const isSure = await context.ask({
            title: "Clear all alerts?",
            text: "They are removed from this device. Your computer keeps its activity log.",
            action: "Clear all", isDanger: true,
        });
        if (isSure) {
            await undoable(() => household.clearAlerts(newest), "All alerts cleared.",
                () => household.clearAlerts(before));
        }
    });
    const again = iconButton("refresh", "Refresh", async () => {
        again.disabled = true;
        await refresh();
        again.disabled = false;
        again.focus();
    });
    await feed.load();
    draw();
    const wanted = query.get("alert");
    const named = wanted && feed.alerts.find(({ keys }) => keys.includes(wanted));
    if (named) setTimeout(() => !signal.aborted && open(named));
    return {
        title: "Alerts", actions: [again, clear],
        body: [element("div", { class: "alerts" }, pullToRefresh(refresh, signal),
            segments("Show", filters, filter, (chosen) => {
                filter = chosen;
                draw();
            }), namesComputer && computerPicker([{ id: "", name: "All computers" }, ...computers], "", (chosen) => {
                computer = chosen;
                draw();
            }), status, none, list.element, older, failure)],
    };
}

/**
 * Why older alerts are not in the list.
 * @param {AlertFeed} feed
 */
function unread(feed) {
    return [
        element("p", { class: "caption", role: "alert" }, `Older alerts can’t be read. ${sentenceOf(feed.problem)}`),
        button("Try again", () => feed.load().catch(() => {}), { kind: "plain" }),
    ];
}
