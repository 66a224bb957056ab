// Vectors/reader.py, an independent implementation with another library, opens what the browser seals.
import { sealBox } from "/crypto/box.js";
import { base64, hex, randomBytes, randomID, utf8 } from "/crypto/bytes.js";
import { sealEnvelope } from "/crypto/envelope.js";
import { freshPair, importPrivate } from "/crypto/p256.js";
import { sha256 } from "/crypto/primitives.js";
import { KeyRing, ringKind } from "/crypto/ring.js";
import { sign } from "/crypto/signature.js";
import { KeySlots } from "/crypto/slots.js";
import { sealContent, streamName } from "/crypto/stream.js";
import { equal } from "./harness.js";

/** Seals new values in every format of a companion, each with the contents that the reader must find. */
async function things() {
    /** @type {{ entry: Record<string, unknown>, sealed: string, wanted: Record<string, unknown> }[]} */
    const list = [];
    const add = (sealed, entry, wanted) =>
        list.push({ sealed: base64(sealed), entry, wanted: { format: entry.format, ...wanted } });
    const digest = async (bytes) => ({ content: hex(await sha256(bytes)) });

    const [rootKey, share] = [randomBytes(32), randomBytes(32)];
    const fresh = KeySlots.fresh();
    const kek = await fresh.kek(await fresh.stretch(utf8("Grüße 🔑 7")), share);
    const slots = (await fresh.setting(2, randomBytes(32), randomBytes(32))).clearing(2);
    add((await slots.setting(5, rootKey, kek)).bytes,
        { format: "slots", passcode: "Grüße 🔑 7", mixedSecret: hex(share) },
        { rootKey: hex(rootKey), slot: 5 });

    const entries = Object.values(ringKind).flatMap((kind) =>
        [1, 70_000].map((epoch) => ({ kind, vault: randomID(), epoch, key: randomBytes(32) })));
    const ring = new KeyRing(entries);
    add(await ring.sealed(rootKey), { format: "ring", key: hex(rootKey) },
        { entries: ring.entries.map((entry) => ({ ...entry, key: hex(entry.key) })) });

    for (const size of [0, 1, 252, 253, 268, 269, 5_000, 60_000]) {
        const [key, body] = [randomBytes(32), randomBytes(size)];
        const name = { vault: randomID(), collection: "notes", id: randomID(), revision: 1 + size };
        add(await sealEnvelope(body, name, key, 3), { format: "envelope", key: hex(key), name }, await digest(body));
        const { scalar, point } = await freshPair();
        add(await sealBox(body, name, point), { format: "box", key: hex(scalar), name }, await digest(body));
        const stream = { vault: name.vault, collection: "photos", id: name.id };
        const content = new Uint8Array(await new Blob([body, body, body]).arrayBuffer());
        add(await sealContent(content, streamName(stream), key, 16), { format: "stream", key: hex(key), name: stream },
            await digest(content));
        const signature = await sign(await importPrivate(scalar, point, "ECDSA"), body, "record");
        add(signature, { format: "signature", publicKey: hex(point), purpose: "record", message: hex(body) },
            { valid: true });
        add(signature, { format: "signature", publicKey: hex(point), purpose: "other", message: hex(body) },
            { valid: false });
    }
    return list;
}

export const tests = {
    async theIndependentReaderOpensWhatTheBrowserSeals() {
        const list = await things();
        equal(list.length, 42, "complete");
        const found = await window.reader(list.map(({ entry, sealed }) => ({ entry, sealed })));
        for (const [index, { wanted }] of list.entries()) {
            const [one, other] = [found[index], wanted].map((value) => JSON.stringify(Object.entries(value).sort()));
            equal(one, other, `${wanted.format} ${index}`);
        }
    },
};
