// In a tab of an iPhone or iPad: how to add AppLocker to the Home Screen, before the link is used.
import { appIdentity, applyIdentity, installFromThisAddress } from "../../ui/app-identity.js";
import { element } from "../../ui/element.js";
import { entryPage, replacePage } from "../../ui/entry-page.js";
import { button, stepRows } from "../../ui/parts.js";
import { toast } from "../../ui/toast.js";
import { stayInTab } from "./entry-link.js";

/** How long a link works, for the words of a step. */
const works = { pair: "for five minutes", vault: "for five minutes", start: "once" };

/**
 * @param {import("./entry-link.js").EntryLink | null} entry stays unused
 * @param {() => Promise<HTMLElement>} tabPage the page that sets this tab up
 */
export function installPage(entry, tabPage) {
    // The app's address on the Home Screen must not have the secret of a sheet.
    const carried = entry && entry.kind !== "recover" ? { works: works[entry.kind], link: entry.link } : null;
    const carriesLink = carried !== null && appIdentity() === "applocker";
    if (carriesLink) installFromThisAddress();
    const page = entryPage("Add AppLocker to the Home Screen first",
        "A tab and an app on the Home Screen store their data separately, and only the app gets notifications.",
        stepRows([
            ["share", "Tap Share in the browser’s bar."],
            ["addSquare", "Choose Add to Home Screen."],
            ["phone", carriesLink
                ? `Open AppLocker there. It continues with this link, which works ${carried.works}.`
                : entry ? "Open the app there, and choose Use a recovery sheet."
                    : "Open the app there, and set it up in it."],
        ]),
        carried && element("div", { class: "entry-page-form" },
            button("Copy the link", () => copy(carried.link), { wide: true }),
            element("p", { class: "soft note" }, "If the app asks for a link, paste it there.")),
        element("div", { class: "entry-page-form" },
            button("Continue in this tab", async () => {
                stayInTab();
                applyIdentity();
                replacePage(page, await tabPage());
            }, { kind: "plain", wide: true }),
            element("p", { class: "soft note" },
                "An app that you add later then has to be set up again, and this tab gets no notifications.")));
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
