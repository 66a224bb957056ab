// What devices check of each record before they open it. docs/formats.md, "Signed record".
import { unbase64 } from "../crypto/bytes.js";
import { administers } from "../crypto/roster.js";
import { contentDigest, sealedBytes, verifyRecord } from "../crypto/signature.js";
import { mayWriteRemark } from "./remark-author.js";

/** @typedef {import("../crypto/roster.js").Member} Member */
/**
 * A record with a valid author, signature and place. `sealed`: null for a tombstone.
 * @typedef {{ name: { vault: string, collection: string, id: string, revision: number }, epoch: number, author: Member,
 *   sealed: Uint8Array | null, blobs: string[] }} CheckedRecord
 */

/** What the hub served, by code. */
const refusals = {
    malformed: "an invalid record",
    unknownAuthor: "a record of a device that is not in the household",
    wrongSignature: "a record that was changed in transit",
    wrongWriter: "a record of a device that may not write it",
    wrongVault: "a record of another household or collection",
    notNewer: "an older state than before",
    unreadable: "a record that does not open",
};

/** Why a record of the hub is refused. */
export class RecordRefusal extends Error {
    /** @param {keyof typeof refusals} code */
    constructor(code) {
        super(refusals[code]);
        this.name = "RecordRefusal";
        this.code = code;
    }
}

const ofHousehold = new Set(["keys", "devices", "status", "apps", "icons", "events", "requests", "commands"]);
const ofAdministrators = new Set(["keys", "devices"]);
const ofComputers = new Set(["requests", "intruders"]);
/** Of which a computer writes only its own record. */
const ofOneComputer = new Set(["status", "apps", "icons"]);
const maximumBlobs = 8;

/** @param {Member} author @param {CheckedRecord["name"]} name */
function mayWrite(author, { collection, id, revision }) {
    const isComputer = author.role === "computer";
    if (collection === "commands") return isComputer !== (revision === 1);
    if (ofAdministrators.has(collection)) return administers(author.role);
    if (ofOneComputer.has(collection)) return isComputer && author.id === id;
    // Events never change.
    if (collection === "events") return isComputer && revision === 1;
    return isComputer || !ofComputers.has(collection);
}

/**
 * The member that signed a record. Throws RecordRefusal `malformed`, `unknownAuthor`, `wrongSignature`.
 * @param {{ member: (id: string) => Member | undefined }} roster
 * @param {Omit<HubRecord, "sealed">} record of the right shape
 * @param {() => Promise<Uint8Array>} digest of its content; what it throws is `malformed`
 */
export async function signerOf(roster, record, digest) {
    const { epoch, blobs } = record;
    if (record.revision < 1 || epoch < 1 || blobs.length > maximumBlobs) throw new RecordRefusal("malformed");
    const author = roster.member(record.author);
    if (!author) throw new RecordRefusal("unknownAuthor");
    let signed;
    let signature;
    try {
        signed = { epoch, author: author.id, blobs, digest: await digest() };
        signature = unbase64(record.signature);
    } catch {
        throw new RecordRefusal("malformed");
    }
    if (!(await verifyRecord(author.verifyKey, record, signed, signature))) throw new RecordRefusal("wrongSignature");
    return author;
}

/**
 * Throws RecordRefusal.
 * @param {{ household: string, member: (id: string) => Member | undefined }} roster
 * @param {HubRecord} record of the right shape
 * @param {number} known the revision of it that is known, 0 where none is
 * @returns {Promise<CheckedRecord>}
 */
export async function checkRecord(roster, record, known) {
    const { collection, id, vault, revision, epoch, blobs } = record;
    const author = await signerOf(roster, record, () => contentDigest(sealedBytes(record)));
    const name = { vault, collection, id, revision };
    const sealed = sealedBytes(record);
    if (ofHousehold.has(collection) !== (vault === roster.household)) throw new RecordRefusal("wrongVault");
    if (!mayWrite(author, name) || (blobs.length > 0 && ofHousehold.has(collection))) {
        throw new RecordRefusal("wrongWriter");
    }
    if (collection === "remarks" && !(await mayWriteRemark(name, author.id, roster.household))) {
        throw new RecordRefusal("wrongWriter");
    }
    if (revision <= known) throw new RecordRefusal("notNewer");
    return { name, epoch, author, sealed, blobs };
}
