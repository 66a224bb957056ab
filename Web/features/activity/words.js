// The entries of a vault's audit log, in words.
import { counted } from "../../ui/words.js";

/** @typedef {import("./audit.js").AuditLine} AuditLine */

/**
 * @type {Record<import("./audit.js").LineKind, { words: string, icon: import("../../ui/icon.js").IconName, mood: "" |
 *   "good" | "warning" | "danger" }>}
 */
const kinds = {
    unlocked: { words: "AppLocker was unlocked", icon: "unlock", mood: "" },
    wrongPIN: { words: "A wrong PIN was entered", icon: "warning", mood: "warning" },
    exported: { words: "Everline was exported unsealed", icon: "share", mood: "warning" },
    backedUp: { words: "A backup of Everline was exported", icon: "share", mood: "" },
    restored: { words: "A backup of Everline was imported", icon: "plus", mood: "" },
    imported: { words: "Photos were imported", icon: "plus", mood: "" },
    reset: { words: "Everline was reset", icon: "trash", mood: "danger" },
    admitted: { words: "This device was added", icon: "phone", mood: "" },
    revoked: { words: "This device was revoked", icon: "cross", mood: "" },
};

/** @param {AuditLine} line */
export const kindOf = ({ kind }) => kinds[kind];

/** @param {AuditLine} line */
export const amounts = ({ moments, photos }) =>
    [moments > 0 && counted(moments, "moment"), photos > 0 && counted(photos, "photo")].filter(Boolean).join(", ");

/** @param {Companion} companion @returns {Promise<(id: string) => string>} the names of devices, by id */
export async function deviceNames(companion) {
    const names = new Map((await companion.household.members())
        .map(({ id, name, isThis }) => [id, isThis ? `${name} (this one)` : name]));
    return (id) => names.get(id) ?? `A revoked device (${id.slice(0, 8)})`;
}
