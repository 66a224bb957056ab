// The recovery sheet of a household that a computer founded.
import { element } from "../../ui/element.js";
import { card, section } from "../../ui/parts.js";

/** How a computer prints the sheet. */
export const computerSheet = () => ({
    title: "Recovery sheet",
    body: [
        section("What it is for", [card(
            element("p", {},
                "A printed sheet with a code that opens your vault when the passcode is forgotten or the computer is "
                    + "lost. There is no other way: nobody can reset a passcode."),
            element("p", { class: "soft" },
                "Store it with your papers, not beside the computer, and not as a photo."))]),
        section("How to print it", [card(
            element("p", {}, "Only the computer can print it, after the passcode. Run there:"),
            element("p", {}, element("code", { class: "settings-code" }, "applocker recovery print")),
            element("p", { class: "soft" }, "A new sheet replaces the previous one, which stops working."))]),
        section("When this device is lost", [card(
            element("p", {},
                "Revoke it under Devices on another phone, or on a computer with “applocker devices revoke”. Your "
                    + "notes stay on the computer."))]),
    ],
});
