// The settings of what locks at once and shows the calculator.
import { chordOf } from "./gestures.js";
import { element } from "../../ui/element.js";
import { mayFeelMotion, panic, panicWays, setPanicWays } from "./panic-watch.js";
import { button, card, points, row, rows, section, segments, switchRow, tile } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";

/** @param {string} chord */
const readable = (chord) => chord.split("+").map((part) => part.replace(/^(Key|Digit)/, "")).join(" + ");

/**
 * The pressed keys in stored form; null if cancelled.
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>}
 */
function askKeys(signal) {
    return sheet("Press the keys", signal, (/** @type {(answer: string | null) => void} */ end, closed) => {
        const problem = element("p", { class: "note", role: "status" });
        document.addEventListener("keydown", (event) => {
            // Keys that leave the sheet or move in it still work.
            if (["Escape", "Tab", "Enter", " ", "Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
            event.preventDefault();
            const { key, code, ctrlKey: ctrl, altKey: alt, shiftKey: shift, metaKey: meta } = event;
            const chord = chordOf({ key, code, ctrl, alt, shift, meta });
            if (chord) end(chord);
            else problem.textContent =
                "Use Control, Alt or Command with another key, or a function key that the browser does not use.";
        }, { signal: closed });
        return [
            element("p", { class: "soft" }, "Control, Alt or Command with another key, or a function key."), problem,
            button("Cancel", () => end(null), { kind: "plain", wide: true }),
        ];
    });
}

/** @type {SettingsPage} */
export function panicPage(context) {
    const { companion, signal, toast } = context;
    const keys = element("div", { class: "settings-parts" });
    const drawKeys = () => {
        const { key } = panicWays();
        const kind = key === "escape" || key === "off" ? key : "own";
        keys.replaceChildren(
            segments("Keys", [["escape", "Escape three times"], ["own", "Other keys"], ["off", "Off"]], kind,
                async (chosen) => {
                    const chord = chosen === "own" ? await askKeys(signal) : chosen;
                    if (signal.aborted) return;
                    if (chord) setPanicWays({ key: chord });
                    drawKeys();
                }),
            ...(kind === "own"
                ? [rows(row({ start: tile("keyboard"), title: readable(key), note: "Locks immediately" }))]
                : []));
    };
    drawKeys();
    /** @param {"shake" | "faceDown" | "fingers"} way @param {string} title @param {string} note */
    const way = (way, title, note) => switchRow({
        title, note, checked: panicWays()[way],
        change: async (isOn, input) => {
            // Asked in the tap's handler: an iPhone accepts no other moment.
            if (isOn && way !== "fingers" && !(await mayFeelMotion())) {
                input.checked = false;
                return toast("This device reports no motion, or access was not allowed.");
            }
            setPanicWays({ [way]: isOn });
        },
    });
    return {
        title: "Panic",
        body: [
            section("With keys", [keys], { foot: "In every tab that shows this app, also on the lock screen." }),
            section("With the phone", [rows(
                way("shake", "Shake the phone", "Back and forth, hard, five times"),
                way("faceDown", "Lay it face down", "On a stable surface"),
                way("fingers", "Tap with three fingers", "Three times, quickly"))],
            { foot: "While the app is visible. An iPhone may ask again after each start to allow access to motion." }),
            section("How to return", [card(points(
                "Every tab is locked and shows a calculator, or the notes of your disguise, also after a reload. "
                    + "Nothing shows that it is AppLocker.",
                "Hold its display or title for a second and release it, or press Shift and Enter (in the notes first "
                    + "Shift and Tab): the lock screen appears.",
                "Or type your PIN, if it has digits alone, and press = twice.",
                "With the disguise on, unlock it as usual."))]),
            button("Try it now", () => panic(companion), { wide: true, icon: "lock" }),
        ],
    };
}
