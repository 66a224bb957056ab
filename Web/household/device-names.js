// Names of devices: records of the collection "devices", which devices that administer write.
import { utf8 } from "../crypto/bytes.js";
import { sealEnvelope } from "../crypto/envelope.js";
import { ringKind } from "../crypto/ring.js";
import { signRecord } from "../crypto/signature.js";
import { openStored } from "./keys.js";

/** @typedef {import("../formats/record-bodies.js").DeviceName} DeviceName */

/**
 * The record with a device's name, to be sent; null where the known one is as wanted, or there is no key yet.
 * @param {DeviceSession} device
 * @param {string} id of the named device
 * @param {DeviceName} body
 * @param {(known: DeviceName) => boolean} isWanted
 * @param {import("./keys.js").UnlockedKeys} [author] that signs it
 * @returns {Promise<{ key: string, record: HubRecord } | null>}
 */
export async function nameRecord(device, id, body, isWanted, author = device.keys) {
    const { keys } = device;
    const { key, line, row, record: known } = await device.stored("devices", id);
    const now = known && await openStored(device, known, "devices");
    if (now && isWanted(now)) return null;
    const status = keys.ring.current(ringKind.status, keys.household);
    if (!status) return null;
    const place = { vault: keys.household, collection: "devices", id, revision: (known?.revision ?? 0) + 1 };
    const sealed = await sealEnvelope(utf8(JSON.stringify(body)), place, status.key, status.epoch);
    const replaces = line?.record.replaces ?? row?.record.revision ?? 0;
    const record = await signRecord(author.signingKey, place,
        { epoch: status.epoch, author: author.device, sealed, replaces });
    return { key, record };
}

/**
 * The names that a device wrote.
 * @param {DeviceSession} device
 * @param {string} author
 * @returns {Promise<[id: string, name: DeviceName][]>}
 */
export async function namesBy(device, author) {
    const theirs = (await device.storedAll("devices")).filter(({ record }) => record.author === author);
    const opened = await Promise.all(theirs.map(async ({ record }) =>
        /** @type {[string, DeviceName | null]} */ ([record.id, await openStored(device, record, "devices")])));
    return opened.flatMap(([id, body]) => (body ? [/** @type {[string, DeviceName]} */ ([id, body])] : []));
}
