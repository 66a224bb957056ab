// Edits records of a vault: one at a time, durable before it is reported, sent when the hub can be reached.
import { randomID } from "../crypto/bytes.js";
import { ringKind } from "../crypto/ring.js";
import { hasVaultKey } from "../household/private-storage.js";
import { CompanionError } from "../household/errors.js";
import { ancestorsAfter, ancestorsAfterChange, keepsBoth } from "./versions.js";

/** @typedef {import("../household/keys.js").UnlockedKeys} UnlockedKeys */
/**
 * An opened record. `base`: the hub's revision that it is based on.
 * @typedef {{ id: string, vault: string, revision: number, base: number, signature: string }} Version
 */

/**
 * One edit at a time over all tabs, with its own copy of the keys: it finishes even if AppLocker is locked meanwhile.
 * Throws CompanionError `locked`.
 * @template Value
 * @param {DeviceSession} device
 * @param {(keys: UnlockedKeys) => Promise<Value>} body
 */
export async function editExclusively(device, body) {
    const keys = device.keys.cloneVaultKeys();
    try {
        return await device.tabs.exclusive("edit", () => body(keys));
    } finally {
        keys.wipe();
    }
}

export class RecordEditor {
    /** @type {Map<string, string>} signatures of the last changes of this tab, by key */
    #own = new Map();

    /**
     * @param {DeviceSession} device
     * @param {import("../household/household.js").Household} household
     * @param {() => void} send
     */
    constructor(device, household, send) {
        this.device = device;
        this.household = household;
        this.send = send;
    }

    /**
     * As `editExclusively`.
     * @template Value
     * @param {(keys: UnlockedKeys) => Promise<Value>} body
     */
    exclusive(body) {
        return editExclusively(this.device, body);
    }

    /**
     * The vault of new records. Throws CompanionError `noKey`.
     * @param {UnlockedKeys} keys
     * @returns {Promise<string>}
     */
    async vault(keys) {
        const main = await this.household.mainVault().catch(() => null);
        const vault = main && hasVaultKey(keys.ring, main)
            ? main : keys.ring.entries.filter((entry) => entry.kind === ringKind.vault).at(-1)?.vault;
        if (!vault) {
            throw new CompanionError("noKey", "This device has no key of a vault; set the computer up first.");
        }
        return vault;
    }

    /**
     * The name of the next revision, the hub's revision that it replaces, and its ancestors. A change becomes a record
     * of its own if another tab's change of the same version waits.
     * @param {string} collection
     * @param {Version | null} version as it was read; null for a new one
     * @param {UnlockedKeys} keys
     * @param {boolean} [isRemoval]
     */
    async next(collection, version, keys, isRemoval = false) {
        const id = version?.id ?? randomID();
        const vault = version?.vault ?? (await this.vault(keys));
        const { key, line, row } = await this.device.stored(collection, id);
        const isOther = line?.record.sealed && version && keepsBoth(collection) && !isRemoval
            && ![version.signature, this.#own.get(key)].includes(line.record.signature);
        if (isOther) return { name: { vault, collection, id: randomID(), revision: 1 }, replaces: 0, ancestors: "" };
        const newest = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0, version?.revision ?? 0);
        // The version that was read may have reached the hub meanwhile, and is then its own base. Another device's
        // record of the same revision is not replaced.
        const base = row && version && row.record.signature === version.signature
            ? version.revision
            : version?.base ?? 0;
        const isOfRow = row && row.record.signature === version?.signature;
        const ancestors = line ? await ancestorsAfterChange(line.record, row)
            : isOfRow ? await ancestorsAfter(row) : "";
        return { name: { vault, collection, id, revision: newest + 1 }, replaces: line?.record.replaces
            ?? base, ancestors };
    }

    /**
     * Writes the change atomically, then announces and sends it.
     * @param {import("../store/store.js").Change} change
     */
    async commit(change) {
        await this.device.store.write(change);
        for (const { key, record } of change.waiting ?? []) this.#own.set(key, record.signature);
        this.device.changed((change.waiting ?? []).map(({ key }) => key));
        this.send();
    }
}
