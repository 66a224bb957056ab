// When an app is locked: by weekday and time.
import { element, keyed } from "../../ui/element.js";
import { banner, button, card, empty, iconButton, section, segments } from "../../ui/parts.js";
import { named } from "../../ui/words.js";
import { CommandProgress, markBusy } from "../../ui/command-progress.js";
import { dayWord, everyDay, presets, problemOf, readSchedule, scheduleWords, writeSchedule } from "./schedule.js";

/** @typedef {import("./schedule.js").Schedule} Schedule */

const explanations = {
    none: "It is locked at all times.", block: "Locked during these times, unlocked otherwise.",
    allow: "Unlocked only during these times.",
};
/** Limits the size of the record. */
const maximumWindows = 20;

/**
 * `apps/COMPUTER/APP/schedule`.
 * @param {Context} context
 * @param {{ id: string, name: string }} computer
 * @param {import("../../formats/record-bodies.js").RemoteApp} app
 * @returns {Page}
 */
export function scheduleEditor(context, computer, app) {
    const back = `apps/${computer.id}/${encodeURIComponent(app.id)}`;
    const known = readSchedule(app.schedule);
    /**
     * @type {{ mode: import("./schedule.js").ScheduleMode, windows: (import("./schedule.js").Window & { key: string
     *   })[] }}
     */
    let schedule;
    let number = 0;
    /** @param {Schedule} read */
    const load = (read) => {
        schedule = {
            mode: read.mode, windows: read.windows.map((window) =>
                ({ ...window, days: [...window.days], key: String(number++) })),
        };
    };
    load(known ?? { mode: "none", windows: [] });
    const list = element("div", { class: "schedule-windows" });
    const explanation = element("p", { class: "soft note" });
    const words = element("p", { class: "schedule-words", role: "status" });
    const problem = element("p", { class: "problem note", role: "alert" });
    const modes = element("div", {});
    const changed = () => {
        words.textContent = problemOf(schedule) ? "" : `${scheduleWords(writeSchedule(schedule))}.`;
        problem.textContent = "";
    };
    const draw = () => {
        modes.replaceChildren(segments("Locked",
            [["none", "Always"], ["block", "During these times"], ["allow", "Outside these times"]],
            schedule.mode, (mode) => {
                schedule.mode = mode;
                if (mode !== "none" && schedule.windows.length === 0) add();
                draw();
                /** @type {HTMLElement | null} */ (modes.querySelector("[aria-pressed=true]"))?.focus();
            }));
        explanation.textContent = explanations[schedule.mode];
        keyed(list, schedule.mode === "none" ? [] : schedule.windows, ({ key }) => key, windowCard, () => "");
        more.hidden = schedule.mode === "none" || schedule.windows.length >= maximumWindows;
        changed();
    };
    const add = () => {
        schedule.windows.push({ days: schedule.windows.length
            ? [...everyDay]
            : [0, 1, 2, 3, 4], from: "09:00", to: "17:00", key: String(number++) });
    };
    const more = button("Add a time", () => {
        add();
        draw();
        /** @type {HTMLElement | null} */ (list.lastElementChild?.querySelector("button"))?.focus();
    }, { icon: "plus" });

    /** @param {typeof schedule.windows[number]} window */
    const windowCard = (window) => {
        const days = everyDay.map((day) => element("button", {
            type: "button", class: "schedule-day", "aria-pressed": String(window.days.includes(day)),
            "aria-label": dayWord(day, "long"),
            onclick: (/** @type {Event} */ event) => {
                window.days = window.days.includes(day)
                    ? window.days.filter((other) => other !== day)
                    : [...window.days, day].sort();
                /** @type {Element} */ (event.currentTarget)
                    .setAttribute("aria-pressed", String(window.days.includes(day)));
                changed();
            },
        }, dayWord(day, "narrow")));
        /** @param {"from" | "to"} end @param {string} label */
        const time = (end, label) =>
            element("label", { class: "field" }, element("span", { class: "field-label" }, label),
                element("input", {
                    class: "input", type: "time", required: true,
                    // A browser's clock ends at 23:59; midnight as an end is 24:00.
                    value: window[end] === "24:00" ? "00:00" : window[end],
                    onchange: (/** @type {Event} */ event) => {
                        const { value } = /** @type {HTMLInputElement} */ (event.target);
                        window[end] = end === "to" && value === "00:00" ? "24:00" : value;
                        changed();
                    },
                }));
        return element("div", { class: "card" }, element("div", { class: "card-body" },
            element("div", { class: "schedule-days", role: "group", "aria-label": "Days" }, ...days),
            element("div", { class: "schedule-times" }, time("from", "From"), time("to", "To"),
                iconButton("trash", "Remove this time", () => {
                    schedule.windows = schedule.windows.filter((other) => other !== window);
                    draw();
                    more.focus();
                }))));
    };
    /** @type {CommandProgress} */
    const progress = new CommandProgress(context.companion, context.signal, () => markBusy([save], progress));
    const save = button("Save", async () => {
        const wrong = problemOf(schedule);
        if (wrong) return void (problem.textContent = wrong);
        if (!progress.mayBegin()) return;
        const text = writeSchedule(schedule);
        const isSure = await context.confirmUnlock({
            title: "Save the schedule?",
            text: `${named(app.name)} on ${named(computer.name)}: ${scheduleWords(text)}.`, action: "Save",
        });
        if (!isSure) return;
        const reply = await progress.send(computer.id, computer.name, { setSchedule: { app: app.id, schedule: text } });
        if (reply?.state === "done" && !context.signal.aborted) {
            context.toast(reply.sentence);
            context.go(back);
        }
    }, { kind: "primary", wide: true });
    const choices = element("div", { class: "chips" }, ...presets.map(({ label, text }) => element("button", {
        type: "button", class: "chip", title: scheduleWords(text), onclick: () => {
            load(/** @type {Schedule} */ (readSchedule(text)));
            draw();
        },
    }, label)));
    draw();
    return {
        title: `Schedule of ${named(app.name)}`, back,
        body: [element("div", { class: "schedule" },
            !known && banner("warning", "warning",
                `This schedule was created by a newer version of AppLocker (“${app.schedule}”). Saving replaces it.`),
            section(null, [modes, explanation]), list, element("div", {}, more),
            section("Templates", [choices]),
            card(words, problem, save, progress.element))],
    };
}

export const noSuchApp = () => empty("apps", "App not on the list",
    "This app is no longer on the computer’s list, or the list has not arrived yet.");
