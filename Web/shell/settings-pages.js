// The settings pages of all features.
import { settings, settingsPage } from "../features/settings/screen.js";
import { auditPage } from "../features/activity/settings.js";
import { exportPage } from "../features/backup/export-page.js";
import { importPage } from "../features/backup/import-page.js";
import { momentsBackupPage } from "../features/backup/moments-backup-page.js";
import { backup } from "../features/backup/notes-backup-page.js";
import { resetPage } from "../features/backup/reset-page.js";
import { removal } from "../features/devices/leave.js";
import { devices } from "../features/devices/settings.js";
import { disguisePage } from "../features/disguise/settings.js";
import { autoLock } from "../features/lock-screen/settings-auto-lock.js";
import { decoyPage, decoyPINPage } from "../features/lock-screen/settings-decoy.js";
import { unlockPage, pinPage } from "../features/lock-screen/settings.js";
import { everline } from "../features/moments/settings.js";
import { notifications } from "../features/notifications/settings.js";
import { panicPage } from "../features/panic/settings.js";
import { about } from "../features/settings/about.js";
import { appearancePage } from "../features/settings/appearance.js";
import { newSheet } from "../features/recovery/new-sheet.js";
import { recovery } from "../features/recovery/settings.js";
import { syncPage } from "../features/settings/sync.js";
import { vaultsPage } from "../features/vaults/settings.js";
import { ofChosenVault } from "../ui/vault-choice.js";
import { settingsValues } from "./settings-values.js";

/** @type {import("../features/settings/screen.js").Group[]} */
export const groups = [
    { title: "Security", pages: [
        { name: "unlock", label: "PIN, Face ID and fingerprint", icon: "key", page: unlockPage },
        { name: "decoy", label: "Decoy PIN", icon: "shield", page: decoyPage },
        { name: "autolock", label: "Auto-lock", icon: "clock", page: autoLock },
        { name: "audit", label: "Activity", icon: "eye", page: ofChosenVault("settings/audit", auditPage) },
        { name: "panic", label: "Panic", icon: "warning", page: panicPage },
        { name: "disguise", label: "Disguise", icon: "calculator", page: disguisePage },
    ] },
    { title: "Household", pages: [
        { name: "notifications", label: "Notifications", icon: "bell", page: notifications },
        { name: "devices", label: "Devices", icon: "phone", page: devices },
        { name: "recovery", label: "Recovery sheet", icon: "note", page: recovery },
    ] },
    { title: "Everline", pages: [
        { name: "everline", label: "Everline", icon: "heart", page: everline },
        { name: "vaults", label: "Vaults", icon: "people", page: vaultsPage },
    ] },
    { title: "This app", pages: [
        { name: "appearance", label: "Appearance", icon: "sun", page: appearancePage },
        { name: "sync", label: "Sync and storage", icon: "cloud", page: syncPage },
        { name: "backup", label: "Backup of notes", icon: "share", page: backup },
        { name: "about", label: "Version and update", icon: "refresh", page: about },
        { name: "remove", label: "Revoke this device", icon: "trash", mood: "danger", page: removal },
    ] },
];

/** @param {string} name @param {Parameters<typeof ofChosenVault>[1]} page */
const everlineSubpage = (name, page) => ({
    [`everline/${name}`]: /** @type {[string, SettingsPage, string]} */ (
        ["everline", ofChosenVault(`settings/everline/${name}`, page), "settings/everline"]),
});

/**
 * Subpages of the list, by address: the page's name, the page, and the address of its arrow.
 * @type {Record<string, [string, SettingsPage, string]>}
 */
export const subpages = {
    "unlock/pin": ["unlock", pinPage, "settings/unlock"],
    "decoy/pin": ["decoy", decoyPINPage, "settings/decoy"],
    "recovery/new": ["recovery", newSheet, "settings/recovery"],
    ...everlineSubpage("export", exportPage),
    ...everlineSubpage("import", importPage),
    ...everlineSubpage("copy", momentsBackupPage),
    ...everlineSubpage("reset", resetPage),
};

const menu = { groups, values: settingsValues };

/** @type {AppScreen} */
export function settingsScreen(context) {
    const address = context.parts.join("/");
    const listed = groups.flatMap(({ pages }) => pages).find(({ name }) => name === address);
    if (listed) return settingsPage(context, menu, listed.name, listed.page);
    return Object.hasOwn(subpages, address)
        ? settingsPage(context, menu, ...subpages[address]) : settings(context, menu);
}
