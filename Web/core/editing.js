// Changes of a vault's records on this device: one at a time, durable before anybody is told, sent when the hub can be reached.
import { randomID } from "../crypto/bytes.js";
import { ringKind } from "../crypto/ring.js";
import { keyOf } from "../store/store.js";
import { knowsVault } from "./drawer.js";
import { CompanionError } from "./errors.js";
import { ancestorsAfter, ancestorsAfterChange } from "./versions.js";

/** @typedef {import("./keys.js").UnlockedKeys} UnlockedKeys */
/**
 * A record as it was opened. `base`: the revision of the hub's that it stands on.
 * @typedef {{ id: string, vault: string, revision: number, base: number, signature: string }} Version
 */

/**
 * One edit at a time over all tabs, with keys of its own: it ends even if the gate closes meanwhile. Throws CompanionError `locked`.
 * @template Value
 * @param {import("./device.js").Device} device
 * @param {(keys: UnlockedKeys) => Promise<Value>} body
 */
export async function editAlone(device, body) {
    const keys = device.keys.held();
    try {
        return await device.tabs.alone("edit", () => body(keys));
    } finally {
        keys.wipe();
    }
}

export class Editing {
    /** @param {import("./device.js").Device} device @param {import("./household.js").Household} household @param {() => void} send */
    constructor(device, household, send) {
        this.device = device;
        this.household = household;
        this.send = send;
    }

    /**
     * As `editAlone`.
     * @template Value
     * @param {(keys: UnlockedKeys) => Promise<Value>} body
     */
    alone(body) {
        return editAlone(this.device, body);
    }

    /**
     * Where new records belong. Throws CompanionError `noKey`.
     * @param {UnlockedKeys} keys
     * @returns {Promise<string>}
     */
    async vault(keys) {
        const main = await this.household.mainVault().catch(() => null);
        const vault = main && knowsVault(keys.ring, main)
            ? main : keys.ring.entries.filter((entry) => entry.kind === ringKind.vault).at(-1)?.vault;
        if (!vault) throw new CompanionError("noKey", "This device was not given the key of a vault; set the computer up first.");
        return vault;
    }

    /**
     * The name of the next revision, which of the hub's it replaces, and the versions that it follows.
     * @param {string} collection
     * @param {Version | null} version as it was read; null for a new one
     * @param {UnlockedKeys} keys
     */
    async next(collection, version, keys) {
        const id = version?.id ?? randomID();
        const vault = version?.vault ?? (await this.vault(keys));
        const key = keyOf(collection, id);
        const [line, row] = [await this.device.store.waitingFor(key), await this.device.store.record(key)];
        const newest = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0, version?.revision ?? 0);
        // What was read may have reached the hub meanwhile: then it stands on itself there. Another device's record of the same
        // revision is not replaced by it.
        const base = row && version && row.record.signature === version.signature ? version.revision : version?.base ?? 0;
        const isOfRow = row && row.record.signature === version?.signature;
        const ancestors = line ? await ancestorsAfterChange(line.record, row) : isOfRow ? await ancestorsAfter(row) : "";
        return { name: { vault, collection, id, revision: newest + 1 }, replaces: line?.record.replaces ?? base, ancestors };
    }

    /**
     * All of it or nothing, then everybody is told.
     * @param {import("../store/store.js").Change} change
     */
    async keep(change) {
        await this.device.store.write(change);
        this.device.changed((change.waiting ?? []).map(({ key }) => key));
        this.send();
    }
}
