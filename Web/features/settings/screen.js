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

/** @typedef {{ groups: Group[], values: Record<string, (companion: Companion) => string | Promise<string>> }} Menu */

/** As in styles/settings.css. */
const wide = "(min-width: 64rem)";

/** @param {Context} context @param {Menu} menu @param {string | null} open */
function menuOf({ companion, signal }, { groups, values }, open) {
    const link = (/** @type {Group["pages"][number]} */ { name, label, icon: picture, mood }) => {
        const value = element("span", { class: "row-end" });
        // Some are asked from the hub: the list doesn't wait for them.
        Promise.resolve(values[name]?.(companion) ?? "")
            .then((words) => signal.aborted || value.append(words), () => {});
        return element("a", {
            class: "row settings-link", href: `#/settings/${name}`, "aria-current": name === open ? "page" : null,
        }, tile(picture, mood),
        element("span", { class: "row-text" }, element("span", { class: "row-title" }, label)), value, icon("forward"));
    };
    return element("nav", { class: "settings-menu", "aria-label": "Settings" },
        button("Lock now", () => companion.lock(), { wide: true, icon: "lock" }),
        ...groups.map((group) => section(group.title, [rows(...group.pages.map(link))])));
}

/**
 * The list of pages; if there is width for both, the first page beside it.
 * @param {Context} context
 * @param {Menu} menu
 * @returns {Promise<Page>}
 */
export async function settings(context, menu) {
    redrawAtWidth(context, matchMedia(wide));
    const [first] = menu.groups[0].pages;
    if (matchMedia(wide).matches) return beside(context, menu, first.name, first.page);
    const { device } = await context.companion.report();
    return {
        title: "Settings",
        body: [device && element("p", { class: "settings-own soft", dir: "auto" }, `This is ${device.name}`),
            menuOf(context, menu, null)],
    };
}

/**
 * @param {Context} context
 * @param {Menu} menu
 * @param {string} name
 * @param {SettingsPage} page
 * @returns {Promise<Page>}
 */
async function beside(context, menu, name, page) {
    const { title, body } = await page(context);
    return {
        title: "Settings",
        body: [element("div", { class: "settings-split" }, menuOf(context, menu, name),
            element("div", { class: "settings-page" },
                element("h2", { class: "settings-page-title" }, title), ...body))],
    };
}

/**
 * @param {Context} context
 * @param {Menu} menu
 * @param {string} name of the page in the list
 * @param {SettingsPage} page
 * @param {string} [back]
 * @returns {Promise<Page>}
 */
export async function settingsPage(context, menu, name, page, back = "settings") {
    redrawAtWidth(context, matchMedia(wide));
    if (matchMedia(wide).matches) return beside(context, menu, name, page);
    return { back, ...(await page(context)) };
}
