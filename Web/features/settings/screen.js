// Settings: a list of pages, and beside it the open one where there is width for both.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button, rows, section, tile } from "../../ui/parts.js";
import { redrawAtWidth } from "../../ui/width.js";

/** @typedef {import("../../ui/icon.js").IconName} IconName */

/**
 * @typedef {{ title: string, pages: { name: string, label: string, icon: IconName, mood?: "danger", page: SettingsPage
 *   }[] }} Group
 */

/** As in styles/settings.css. */
const wide = "(min-width: 64rem)";

/** @param {Context} context @param {Group[]} groups @param {string | null} open */
function menu(context, groups, open) {
    const link = (/** @type {Group["pages"][number]} */ { name, label, icon: picture, mood }) =>
        element("a", { class: "row settings-link", href: `#/settings/${name}`, "aria-current": name === open
            ? "page"
            : null },
            tile(picture, mood), element("span", { class: "row-text" }, element("span", { class: "row-title" }, label)),
            icon("forward"));
    return element("nav", { class: "settings-menu", "aria-label": "Settings" },
        button("Lock now", () => context.companion.lock(), { wide: true, icon: "lock" }),
        ...groups.map((group) => section(group.title, [rows(...group.pages.map(link))])));
}

/**
 * The list of pages; if there is width for both, the first page beside it.
 * @param {Context} context
 * @param {Group[]} groups
 * @returns {Promise<Page>}
 */
export async function settings(context, groups) {
    redrawAtWidth(context, matchMedia(wide));
    const [first] = groups[0].pages;
    if (matchMedia(wide).matches) return beside(context, groups, first.name, first.page);
    const { device } = await context.companion.report();
    return {
        title: "Settings",
        body: [device && element("p", { class: "settings-own soft", dir: "auto" }, `This is ${device.name}`),
            menu(context, groups, null)],
    };
}

/**
 * @param {Context} context
 * @param {Group[]} groups
 * @param {string} name
 * @param {SettingsPage} page
 * @returns {Promise<Page>}
 */
async function beside(context, groups, name, page) {
    const { title, body } = await page(context);
    return {
        title: "Settings",
        body: [element("div", { class: "settings-split" }, menu(context, groups, name),
            element("div", { class: "settings-page" },
                element("h2", { class: "settings-page-title" }, title), ...body))],
    };
}

/**
 * @param {Context} context
 * @param {Group[]} groups
 * @param {string} name of the page in the list
 * @param {SettingsPage} page
 * @param {string} [back]
 * @returns {Promise<Page>}
 */
export async function settingsPage(context, groups, name, page, back = "settings") {
    redrawAtWidth(context, matchMedia(wide));
    if (matchMedia(wide).matches) return beside(context, groups, name, page);
    return { back, ...(await page(context)) };
}
