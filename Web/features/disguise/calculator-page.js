// The screen of the disguise as a calculator: a working one. Nothing in it reveals how AppLocker is opened.
import { Calculator } from "./calculator.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { onLongPress } from "./long-press.js";

const names = /** @type {Record<string, string>} */ ({
    "+": "plus", "−": "minus", "×": "times", "÷": "divided by", "%": "percent", "±": "change sign", "=": "equals",
    C: "clear", "⌫": "delete", ".": "point",
});
const typed = /** @type {Record<string, string>} */ ({
    "-": "−", "*": "×", x: "×", "/": "÷", ":": "÷", ",": ".", Enter: "=", Backspace: "⌫", Delete: "C", Escape: "C",
    c: "C", C: "C", n: "±",
});
const layout = ["C", "±", "%", "÷", "7", "8", "9", "×", "4", "5", "6", "−", "1", "2", "3", "+", "0", ".", "⌫", "="];

/** @param {import("./disguised-lock-screen.js").DisguiseWays} ways */
export function calculatorPage({ offer, other, signal }) {
    const calculator = new Calculator();
    const line = element("p", { class: "calculator-line" });
    const number = element("output", { class: "calculator-number", "aria-live": "polite" });
    const display = element("div", { class: "calculator-display" }, line, number);
    const draw = () => {
        line.textContent = calculator.line;
        number.textContent = calculator.display;
        const { length } = calculator.display;
        number.dataset.size = length > 24 ? "tiny" : length > 14 ? "small" : length > 9 ? "middle" : "large";
    };
    const press = (/** @type {string} */ key) => {
        const digits = calculator.press(key, performance.now());
        draw();
        if (digits) offer(digits);
    };
    onLongPress(display, signal, other);
    const key = (/** @type {string} */ name) => {
        const kind = /\d|\./.test(name) ? "" : name === "=" ? " calculator-equals"
            : "+−×÷".includes(name) ? " calculator-operator" : " calculator-other";
        let wasHeld = false;
        const node = element("button", {
            type: "button", class: `calculator-key${kind}`, "aria-label": names[name] ?? null,
            onclick: () => {
                if (!wasHeld) press(name);
                wasHeld = false;
            },
        }, name === "⌫" ? icon("erase") : name);
        if (name === "=") {
            onLongPress(node, signal, () => {
                wasHeld = true;
                const digits = calculator.hold();
                if (digits) offer(digits);
                // Held or pressed, it shows the result.
                press("=");
            });
            node.addEventListener("pointerdown", () => {
                wasHeld = false;
            });
        }
        return node;
    };
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "Enter" && event.shiftKey) return event.repeat || other();
        const name = typed[event.key] ?? event.key;
        // Enter is = even if a key has the focus, which Space presses.
        if (!layout.includes(name)) return;
        event.preventDefault();
        if (!event.repeat || name === "⌫") press(name);
    }, { signal });
    signal.addEventListener("abort", () => {
        calculator.forget();
        draw();
    }, { once: true });
    draw();
    return element("main", { class: "calculator" },
        element("h1", { class: "visually-hidden", tabindex: "-1" }, "Calculator"),
        display, element("div", { class: "calculator-keys" }, ...layout.map(key)));
}
