// A QR code as a picture: always dark on light, with the quiet zone that readers need.
import { drawing } from "./element.js";

const zone = 4;

/**
 * @param {boolean[][]} modules as of formats/qr-code.js
 * @param {string} label for screen readers
 */
export function qrPicture(modules, label) {
    const size = modules.length + 2 * zone;
    const path = modules.flatMap((line, row) => line.map((dark, column) =>
        (dark ? `M${column + zone} ${row + zone}h1v1h-1z` : ""))).join("");
    return drawing("svg",
        { viewBox: `0 0 ${size} ${size}`, class: "qr-code", role: "img", "aria-label": label, focusable: "false" },
        drawing("rect", { width: size, height: size, class: "qr-code-ground" }), drawing("path", { d: path }));
}
