// The devices of a household: a chain of entries, each signed by a device that administers and belonged before.
// docs/formats.md, "Roster".
import { ByteReader, base64, equalInConstantTime, fields, hex } from "./bytes.js";
import { FormatError } from "./errors.js";
import { importPublic } from "./p256.js";
import { sha256 } from "./primitives.js";
import { deviceID, verify } from "./signature.js";

/**
 * `administrator`: a companion that may change the list of devices too.
 * @typedef {"computer" | "companion" | "administrator"} DeviceRole
 * `admittedBy`: its own id, if it founded the household.
 * @typedef {{ id: string, role: DeviceRole, signingKey: Uint8Array, boxKey: Uint8Array, verifyKey: CryptoKey,
 *   admittedBy: string }} Member
 * @typedef {{ number: bigint, previous: Uint8Array, time: number, author: string, admit: Member | null, revoke: string
 *   | null, signed: Uint8Array, signature: Uint8Array, hash: Uint8Array }} RosterEntry
 */

const signatureLength = 64;
/** @type {DeviceRole[]} the first one is number 1 */
const roles = ["computer", "companion", "administrator"];

/** @param {DeviceRole} role its number in an entry */
export const numberOf = (role) => roles.indexOf(role) + 1;

/**
 * Whether a device of this role may admit and revoke devices.
 * @param {DeviceRole | undefined} role
 */
export const administers = (role) => role === "computer" || role === "administrator";

/** @param {Uint8Array} bytes @returns {Promise<RosterEntry>} */
async function readEntry(bytes) {
    const reader = new ByteReader(bytes, "entry of the list of devices");
    reader.magic("APRO");
    const kind = reader.number(1);
    reader.zeros(2);
    const number = reader.u64();
    const previous = reader.bytes(32);
    const time = Number(reader.u64());
    const author = reader.id();
    if (kind !== 1 && kind !== 2) throw reader.malformed();
    /** @type {Member | null} */
    let admit = null;
    let revoke = null;
    if (kind === 1) {
        const role = roles[reader.number(1) - 1];
        const [signingKey, boxKey] = [reader.bytes(65), reader.bytes(65)];
        if (!role) throw reader.malformed();
        const verifyKey = await importPublic(signingKey, "ECDSA");
        await importPublic(boxKey, "ECDH");
        admit = { id: await deviceID(signingKey), role, signingKey, boxKey, verifyKey, admittedBy: author };
    } else {
        revoke = reader.id();
    }
    const signature = reader.bytes(signatureLength);
    reader.end();
    const signed = bytes.slice(0, -signatureLength);
    const hash = await sha256(fields("applocker/1/roster", signed));
    return { number, previous, time, author, admit, revoke, signed, signature, hash };
}

const broken = () => new FormatError("damaged", "The list of devices was changed without permission; it was rejected.");

export class Roster {
    /** @type {Uint8Array[]} as they were signed */
    entries = [];
    /** @type {Member[]} in the order of admission */
    members = [];
    /** @type {Set<string>} */
    revoked = new Set();
    /**
     * Revoked devices by id. `until`: how many were revoked by then, including this one.
     * @type {Map<string, Member & { until: number }>}
     */
    former = new Map();
    household = "";
    /** Hash of the newest entry. */
    head = new Uint8Array(32);
    /** Its keys are one record an epoch, as in a shared vault. docs/formats.md, "Households of phones". */
    isPhoneFounded = false;

    get number() {
        return this.entries.length;
    }

    /**
     * Reads a chain from its first entry. Throws FormatError: malformed, unknownVersion, damaged.
     * @param {Uint8Array[]} entries
     */
    static async read(entries) {
        if (entries.length === 0) throw new FormatError("malformed", "The list of devices is empty.");
        const roster = new Roster();
        for (const entry of entries) await roster.append(entry);
        return roster;
    }

    /**
     * Admissions and revocations with their times, seconds since 1970, of entries that were checked before.
     * @param {Uint8Array[]} entries
     * @returns {Promise<{ number: number, time: number, author: string, admitted: string | null, revoked: string | null
     *   }[]>}
     */
    static async changes(entries) {
        const read = await Promise.all(entries.map(readEntry));
        return read.map(({ number, time, author, admit, revoke }) => ({
            number: Number(number), time, author, admitted: admit?.id ?? null, revoked: revoke,
        }));
    }

    /** @param {number} number @param {string} hash in base64 */
    async has(number, hash) {
        const entry = this.entries[number - 1];
        return entry !== undefined && base64((await readEntry(entry)).hash) === hash;
    }

    copy() {
        const copy = new Roster();
        copy.entries = [...this.entries];
        copy.members = [...this.members];
        copy.revoked = new Set(this.revoked);
        copy.former = new Map(this.former);
        copy.household = this.household;
        copy.head = this.head;
        copy.isPhoneFounded = this.isPhoneFounded;
        return copy;
    }

    /** @param {string} id */
    member(id) {
        return this.members.find((member) => member.id === id);
    }

    /**
     * Appends a checked entry. Throws as `read`; the roster then stays as it is.
     * @param {Uint8Array} bytes
     */
    async append(bytes) {
        const entry = await readEntry(bytes);
        const isFirst = this.entries.length === 0;
        const author = isFirst ? entry.admit ?? undefined : this.member(entry.author);
        const fits = entry.number === BigInt(this.number + 1) && equalInConstantTime(entry.previous, this.head);
        if (!fits || !author || !administers(author.role) || author.id !== entry.author
            || !(await verify(author.verifyKey, entry.signature, entry.signed, "roster"))) throw broken();
        if (entry.admit) {
            if (this.member(entry.admit.id) || this.revoked.has(entry.admit.id)) throw broken();
            this.members.push(entry.admit);
        } else {
            const leaving = this.member(entry.revoke ?? "");
            const administrators = this.members.filter(({ role }) => administers(role)).length;
            if (!leaving || (administers(leaving.role) && administrators === 1)) throw broken();
            this.members = this.members.filter((member) => member !== leaving);
            this.revoked.add(leaving.id);
            this.former.set(leaving.id, { ...leaving, until: this.revoked.size });
        }
        if (isFirst) this.isPhoneFounded = author.role === "administrator";
        this.head = entry.hash;
        this.household ||= hex(entry.hash.slice(0, 16));
        this.entries.push(bytes.slice());
    }

    /**
     * Whether one chain continues the other.
     * @param {Roster} other
     */
    isOneWith(other) {
        const last = Math.min(this.number, other.number) - 1;
        return last < 0 || equalInConstantTime(this.entries[last], other.entries[last]);
    }

    /**
     * Continues the roster by what the hub serves, which begins with the last known entry.
     * @param {Uint8Array[]} served entries from number `this.number` on
     * @returns {Promise<Roster>} throws RosterViolation
     */
    async following(served) {
        const last = this.entries.at(-1);
        if (!last || !served[0] || !equalInConstantTime(served[0], last)) {
            throw new RosterViolation("an older or another list of devices than before");
        }
        const longer = this.copy();
        try {
            for (const entry of served.slice(1)) await longer.append(entry);
        } catch {
            throw new RosterViolation("a list of devices that was changed without permission");
        }
        return longer;
    }
}

/** The hub's roster does not continue the one seen before. The message describes what was served. */
export class RosterViolation extends Error {}
