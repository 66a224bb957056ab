// A recovery sheet as it is shown, printed and saved.
import { element } from "../../ui/element.js";
import { qrPicture } from "../../ui/qr-picture.js";
import { wholeDate } from "../../ui/words.js";

/** @typedef {import("./new-sheet.js").Sheet} Sheet */

/** @param {Sheet} sheet */
export function sheetPaper({ hub, name, groups, modules, made }) {
    const address = hub.replace(/^https?:\/\//, "");
    const fact = (/** @type {string} */ term, /** @type {string} */ value) =>
        element("div", {}, element("dt", {}, term), element("dd", { dir: "auto" }, value));
    return element("article", { class: "recovery-paper", "aria-label": "Recovery sheet" },
        element("header", { class: "recovery-paper-head" },
            element("h2", { class: "recovery-paper-title" }, "Recovery sheet"),
            element("p", {}, "AppLocker and Everline")),
        element("div", { class: "recovery-paper-main" },
            qrPicture(modules, "The sheet’s link as a QR code"),
            element("div", { class: "recovery-paper-side" },
                element("ol", { class: "recovery-paper-code", "aria-label": "Code" },
                    ...groups.map((group) => element("li", {}, group))),
                element("dl", { class: "recovery-paper-facts" }, fact("Address", address), fact("Made on", name),
                    fact("Date", wholeDate(made / 1000))))),
        element("p", {},
            "This sheet opens all moments, notes, photos and shared vaults on a new phone, without a PIN, for anybody "
                + "who has it. Keep it with your papers, not beside the phone, and not as a photo."),
        element("ol", { class: "recovery-paper-steps" },
            element("li", {}, `On the new phone, scan the code, or open ${address} and choose “Use a recovery sheet”.`),
            element("li", {}, "Choose a PIN there. Then revoke the lost phone under Settings, Devices."),
            element("li", {}, "The sheet stays valid until it is revoked, or a new one is made.")));
}

/** For the saved file, which has no other stylesheet. */
const fileStyle = `body { margin: 2rem auto; max-width: 42rem; font: 16px/1.5 system-ui, sans-serif; color: black }
.recovery-paper-main { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: center }
.qr-code { width: 14rem; height: 14rem } .qr-code-ground { fill: white }
.recovery-paper-code { display: grid; grid-template-columns: repeat(3, auto); gap: .4rem 1.2rem; padding: 0;
  list-style: none; font: 600 1.3rem ui-monospace, monospace }
dl div { display: flex; gap: 1rem } dt { min-width: 5rem } dd { margin: 0 }`;

/**
 * A page of its own that any browser shows and prints.
 * @param {HTMLElement} paper
 */
export function sheetFile(paper) {
    const page = `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Recovery sheet</title>`
        + `<style>${fileStyle}</style>${paper.outerHTML}</html>\n`;
    return new File([page], "recovery-sheet.html", { type: "text/html" });
}
