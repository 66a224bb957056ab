// Writes entries of a roster. docs/formats.md, "Roster".
import { concat, u64, unhex, utf8 } from "./bytes.js";
import { numberOf, Roster } from "./roster.js";
import { deviceID, sign } from "./signature.js";

/**
 * @typedef {{ role: import("./roster.js").DeviceRole, signingKey: Uint8Array, boxKey: Uint8Array }} NewMember points of
 *   65 bytes
 */
/** @typedef {{ id: string, key: CryptoKey }} Signer a device that may admit */

const [admitKind, revokeKind] = [1, 2];

/**
 * @param {Roster} roster
 * @param {Signer} signer
 * @param {number} kind
 * @param {Uint8Array} change
 * @param {number} seconds since 1970
 */
async function entry(roster, signer, kind, change, seconds) {
    const signed = concat(
        utf8("APRO"), [1, kind, 0, 0], u64(roster.number + 1), roster.head, u64(Math.floor(seconds)),
        unhex(signer.id), change);
    return concat(signed, await sign(signer.key, signed, "roster"));
}

/** @param {Roster} roster @param {NewMember} member @param {Signer} signer @param {number} seconds since 1970 */
export const admitting = (roster, { role, signingKey, boxKey }, signer, seconds) =>
    entry(roster, signer, admitKind, concat([numberOf(role)], signingKey, boxKey), seconds);

/** @param {Roster} roster @param {string} device @param {Signer} signer @param {number} seconds since 1970 */
export const revoking = (roster, device, signer, seconds) => entry(roster, signer, revokeKind, unhex(device), seconds);

/**
 * A new household, whose first device admits itself.
 * @param {{ signingKey: Uint8Array, boxKey: Uint8Array }} founder points of 65 bytes
 * @param {CryptoKey} key the founder signs with
 * @param {number} seconds since 1970
 * @param {"computer" | "administrator"} [role]
 */
export async function foundedBy(founder, key, seconds, role = "computer") {
    const signer = { id: await deviceID(founder.signingKey), key };
    return Roster.read([await admitting(new Roster(), { role, ...founder }, signer, seconds)]);
}
