// A companion opens or refuses every record of an epoch's keys as Swift does.
import { boxOwner } from "/crypto/box.js";
import { hex, unhex } from "/crypto/bytes.js";
import { KeyRing } from "/crypto/ring.js";
import { addVaultKeys, ownerTag, sharedVaultID } from "/household/shared-keys.js";
import { equal, refusal, vectors } from "./harness.js";

/** @param {any} vector */
async function opened({ record, epoch, member, privateKey, sealed }) {
    const keys = {
        household: record.vault, device: member, box: await boxOwner(unhex(privateKey)), ring: new KeyRing([]),
    };
    await addVaultKeys(/** @type {any} */ (keys), /** @type {any} */ ({ name: record, epoch, sealed: unhex(sealed) }));
    return keys.ring.entries.map((entry) => ({ ...entry, key: hex(entry.key) }));
}

export const tests = {
    async keysOfAnEpochAreOpenedOrRefused() {
        const document = await vectors("epoch_keys");
        equal([document.opens.length, document.refused.length], [4, 16], "epoch_keys is complete");
        for (const vector of document.opens) {
            equal(await opened(vector), vector.entries ?? [], vector.name);
            const { record, member, device } = vector;
            equal(await sharedVaultID(record.vault), vector.vault, vector.name);
            equal(await ownerTag(record.vault, member, device), vector.owner, vector.name);
        }
        for (const vector of document.refused) {
            equal(await refusal(() => opened(vector)), "unreadable", vector.name);
        }
    },
};
