// In a tab of an iPhone or iPad: how to add AppLocker to the Home Screen, before the link is used.
import { appIdentity, applyIdentity, installFromThisAddress } from "../../ui/app-identity.js";
import { element } from "../../ui/element.js";
import { entryPage, replacePage } from "../../ui/entry-page.js";
import { button, stepRows } from "../../ui/parts.js";
import { toast } from "../../ui/toast.js";
import { stayInTab } from "./pairing-link.js";

/**
 * @param {string | null} link stays unused
 * @param {() => Promise<HTMLElement>} tabPage the page that pairs this tab
 */
export function installPage(link, tabPage) {
    const carriesLink = link !== null && appIdentity() === "applocker";
    if (carriesLink) installFromThisAddress();
    const page = entryPage("Add AppLocker to the Home Screen first",
        "A tab and an app on the Home Screen store their data separately, and only the app gets notifications.",
        stepRows([
            ["share", "Tap Share in the browser’s bar."],
            ["addSquare", "Choose Add to Home Screen."],
            ["phone", carriesLink
                ? "Open AppLocker there. It continues with this link, which works for five minutes."
                : "Open the app there. Then open or paste the pairing link in it."],
        ]),
        link && element("div", { class: "entry-page-form" },
            button("Copy the link", () => copy(link), { wide: true }),
            element("p", { class: "soft note" }, "If the app asks for a link, paste it there.")),
        element("div", { class: "entry-page-form" },
            button("Continue in this tab", async () => {
                stayInTab();
                applyIdentity();
                replacePage(page, await tabPage());
            }, { kind: "plain", wide: true }),
            element("p", { class: "soft note" },
                "An app that you add later then has to be paired again, and this tab gets no notifications.")));
    return page;
}

/** @param {string} link */
async function copy(link) {
    try {
        await navigator.clipboard.writeText(link);
        toast("The link was copied");
    } catch {
        toast("The browser does not allow copying. Share the link to the app instead.");
    }
}
