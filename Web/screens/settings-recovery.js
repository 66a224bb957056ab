import { element } from "../views/element.js";
import { card, section } from "../views/parts.js";

/** @type {import("./settings.js").SettingsPage} */
export const recovery = () => ({
    title: "Recovery sheet",
    body: [
        section("What it is for", [card(
            element("p", {}, "A printed sheet with a code that opens your vault when the passcode is forgotten or the computer is lost. Nothing else does: nobody can reset a passcode."),
            element("p", { class: "soft" }, "Keep it where you keep papers, not beside the computer, and not as a photo."))]),
        section("How to print it", [card(
            element("p", {}, "Only the computer can make it, after the passcode. Run there:"),
            element("p", {}, element("code", { class: "settings-code" }, "applocker recovery print")),
            element("p", { class: "soft" }, "A new sheet replaces the one before, which opens nothing any more."))]),
        section("When this device is lost", [card(
            element("p", {}, "Remove it under Devices on another phone, or on a computer with “applocker devices revoke”. Your notes stay on the computer."))]),
    ],
});
