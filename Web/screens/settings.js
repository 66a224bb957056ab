// Settings: a list of pages, and beside it the open one where there is width for both.
import { element } from "../views/element.js";
import { icon } from "../views/icon.js";
import { button, rows, section, tile } from "../views/parts.js";
import { about } from "./settings-about.js";
import { appearancePage } from "./settings-appearance.js";
import { auditPage } from "./settings-audit.js";
import { autoLock } from "./settings-autolock.js";
import { backup } from "./settings-backup.js";
import { copyPage } from "./settings-copy.js";
import { decoyPage, decoyPINPage } from "./settings-decoy.js";
import { devices } from "./settings-devices.js";
import { disguisePage } from "./settings-disguise.js";
import { exportPage } from "./settings-export.js";
import { everline } from "./settings-everline.js";
import { gatePage, pinPage } from "./settings-gate.js";
import { importPage } from "./settings-import.js";
import { notifications } from "./settings-notifications.js";
import { panicPage } from "./settings-panic.js";
import { recovery } from "./settings-recovery.js";
import { removal } from "./settings-removal.js";
import { resetPage } from "./settings-reset.js";
import { syncPage } from "./settings-sync.js";
import { vaultsPage } from "./settings-vaults.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../views/shell.js").Page} Page */
/** @typedef {import("../views/icon.js").IconName} IconName */
/**
 * One page of the settings.
 * @typedef {(context: Context) => Promise<{ title: string, back?: string, body: import("../views/element.js").Child[] }>
 *   | { title: string, back?: string, body: import("../views/element.js").Child[] }} SettingsPage
 */

/** As in styles/settings.css. */
const wide = "(min-width: 64rem)";

/** @type {{ title: string, pages: { name: string, label: string, icon: IconName, mood?: "danger", page: SettingsPage }[] }[]} */
const groups = [
    { title: "Security", pages: [
        { name: "gate", label: "PIN, Face ID and fingerprint", icon: "key", page: gatePage },
        { name: "decoy", label: "Decoy PIN", icon: "shield", page: decoyPage },
        { name: "autolock", label: "Auto-lock", icon: "clock", page: autoLock },
        { name: "audit", label: "What was done", icon: "eye", page: auditPage },
        { name: "panic", label: "Panic", icon: "warning", page: panicPage },
        { name: "disguise", label: "Disguise", icon: "calculator", page: disguisePage },
    ] },
    { title: "Household", pages: [
        { name: "notifications", label: "Notifications", icon: "bell", page: notifications },
        { name: "devices", label: "Devices", icon: "phone", page: devices },
        { name: "recovery", label: "Recovery sheet", icon: "shield", page: recovery },
    ] },
    { title: "Everline", pages: [
        { name: "everline", label: "Everline", icon: "heart", page: everline },
        { name: "vaults", label: "Shared vaults", icon: "people", page: vaultsPage },
    ] },
    { title: "This app", pages: [
        { name: "appearance", label: "Appearance", icon: "eye", page: appearancePage },
        { name: "sync", label: "Sync and storage", icon: "cloud", page: syncPage },
        { name: "backup", label: "Backup of notes", icon: "note", page: backup },
        { name: "about", label: "Version and update", icon: "refresh", page: about },
        { name: "remove", label: "Remove this device", icon: "trash", mood: "danger", page: removal },
    ] },
];
const pages = groups.flatMap((group) => group.pages);

/** @param {Context} context @param {string | null} open */
function menu(context, open) {
    const link = (/** @type {typeof pages[number]} */ { name, label, icon: picture, mood }) =>
        element("a", { class: "row settings-link", href: `#/settings/${name}`, "aria-current": name === open ? "page" : null },
            tile(picture, mood), element("span", { class: "row-text" }, element("span", { class: "row-title" }, label)), icon("forward"));
    return element("nav", { class: "settings-menu", "aria-label": "Settings" },
        button("Lock now", () => context.companion.lock(), { wide: true, icon: "lock" }),
        ...groups.map((group) => section(group.title, [rows(...group.pages.map(link))])));
}

/** @type {import("../views/shell.js").Screen} */
export async function settings(context) {
    redrawn(context);
    if (matchMedia(wide).matches) return beside(context, pages[0].name, pages[0].page);
    const { device } = await context.companion.report();
    return {
        title: "Settings",
        body: [device && element("p", { class: "settings-own soft", dir: "auto" }, `This is ${device.name}`), menu(context, null)],
    };
}

/** @param {Context} context */
function redrawn(context) {
    matchMedia(wide).addEventListener("change", () => context.go(location.hash.replace(/^#\//, ""), { replace: true }), { signal: context.signal });
}

/**
 * @param {Context} context
 * @param {string} name
 * @param {SettingsPage} page
 * @returns {Promise<Page>}
 */
async function beside(context, name, page) {
    const { title, body } = await page(context);
    return {
        title: "Settings",
        body: [element("div", { class: "settings-split" }, menu(context, name),
            element("div", { class: "settings-page" }, element("h2", { class: "settings-page-title" }, title), ...body))],
    };
}

/**
 * @param {string} name
 * @param {SettingsPage} page
 * @param {string} back
 * @returns {import("../views/shell.js").Screen}
 */
const screenOf = (name, page, back = "settings") => async (context) => {
    redrawn(context);
    if (matchMedia(wide).matches) return beside(context, name, page);
    return { back, ...(await page(context)) };
};

/**
 * By address.
 * @type {Record<string, import("../views/shell.js").Screen>}
 */
export const settingsScreens = {
    ...Object.fromEntries(pages.map(({ name, page }) => [`settings/${name}`, screenOf(name, page)])),
    "settings/gate/pin": screenOf("gate", pinPage, "settings/gate"),
    "settings/decoy/pin": screenOf("decoy", decoyPINPage, "settings/decoy"),
    "settings/everline/export": screenOf("everline", exportPage, "settings/everline"),
    "settings/everline/import": screenOf("everline", importPage, "settings/everline"),
    "settings/everline/copy": screenOf("everline", copyPage, "settings/everline"),
    "settings/everline/reset": screenOf("everline", resetPage, "settings/everline"),
};
