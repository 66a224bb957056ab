// What locks at once and shows a calculator.
import { chordOf } from "../core/gestures.js";
import { element } from "../views/element.js";
import { mayFeelMotion, panic, panicWays, setPanicWays } from "../views/panic.js";
import { button, card, row, rows, section, segments, switchRow, tile } from "../views/parts.js";
import { sheet } from "../views/sheet.js";

/** @typedef {import("../views/shell.js").Context} Context */

/**
 * "Ctrl + Shift + L".
 * @param {string} chord
 */
const readable = (chord) => chord.split("+").map((part) => part.replace(/^(Key|Digit)/, "")).join(" + ");

/**
 * The keys that the person presses, as they are kept; null where they think better of it.
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>}
 */
async function askKeys(signal) {
    const ended = new AbortController();
    signal.addEventListener("abort", () => ended.abort(), { once: true });
    const answer = await sheet("Press the keys", signal, (/** @type {(answer: string | null) => void} */ end) => {
        const said = element("p", { class: "note", role: "status" });
        document.addEventListener("keydown", (event) => {
            // Leaving the sheet, and moving in it, stay what they are.
            if (["Escape", "Tab", "Enter", " ", "Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
            event.preventDefault();
            const { key, code, ctrlKey: ctrl, altKey: alt, shiftKey: shift, metaKey: meta } = event;
            const chord = chordOf({ key, code, ctrl, alt, shift, meta });
            if (chord) end(chord);
            else said.textContent = "Take Control, Alt or Command with another key, or a function key; not one that the browser keeps for itself.";
        }, { signal: ended.signal });
        return [
            element("p", { class: "soft" }, "Control, Alt or Command with another key, or a function key."), said,
            button("Cancel", () => end(null), { kind: "plain", wide: true }),
        ];
    });
    ended.abort();
    return answer;
}

/** @type {import("./settings.js").SettingsPage} */
export function panicPage(context) {
    const { companion, signal, tell } = context;
    const keys = element("div", { class: "settings-parts" });
    const drawKeys = () => {
        const { key } = panicWays();
        const kind = key === "escape" || key === "off" ? key : "own";
        keys.replaceChildren(
            segments("Keys", [["escape", "Escape three times"], ["own", "Other keys"], ["off", "Off"]], kind, async (chosen) => {
                const chord = chosen === "own" ? await askKeys(signal) : chosen;
                if (signal.aborted) return;
                if (chord) setPanicWays({ key: chord });
                drawKeys();
            }),
            ...(kind === "own" ? [rows(row({ start: tile("keyboard"), title: readable(key), note: "Locks at once" }))] : []));
    };
    drawKeys();
    /**
     * @param {"shake" | "faceDown" | "fingers"} way
     * @param {string} title
     * @param {string} note
     */
    const way = (way, title, note) => switchRow({
        title, note, checked: panicWays()[way],
        change: async (isOn, input) => {
            // Asked by the tap itself: an iPhone takes no other moment.
            if (isOn && way !== "fingers" && !(await mayFeelMotion())) {
                input.checked = false;
                return tell("This device does not tell how it is moved, or it was not allowed.");
            }
            setPanicWays({ [way]: isOn });
        },
    });
    return {
        title: "Panic",
        body: [
            section("With keys", [keys], { foot: "In every tab that shows this app, also before the gate." }),
            section("With the phone", [rows(
                way("shake", "Shake it", "To and fro, hard, five times"),
                way("faceDown", "Lay it on its face", "On something that keeps still"),
                way("fingers", "Tap with three fingers", "Three times, quickly"))],
            { foot: "While it is open and seen. An iPhone may ask again after each start whether this app may feel motion." }),
            section("How you come back", [card(element("ul", { class: "settings-points" }, ...[
                "Every tab is locked and shows a calculator, also when it is loaded anew. Nothing in it says what it is.",
                "Hold its display for a second and let go, or press Shift and Enter: the gate comes.",
                "Or type your PIN, if it has digits alone, and press = twice.",
                "With the disguise on, it opens as the disguise always does.",
            ].map((text) => element("li", {}, text))))]),
            button("Try it now", () => panic(companion), { wide: true, icon: "lock" }),
        ],
    };
}
