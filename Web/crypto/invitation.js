// Invites a device into a household: a link that works once, for five minutes. docs/formats.md, "Pairing".
import { base64url, ByteReader, concat, fields, unbase64url, unhex, textOf, utf8 } from "./bytes.js";
import { FormatError } from "./errors.js";
import { importPublic } from "./p256.js";
import { pad, unpad } from "./padding.js";
import { gcmOpen, gcmSeal, hkdf, importGCMKey, sha256 } from "./primitives.js";

/**
 * `computer`: the device that invites. `role`: of the device that joins.
 * @typedef {{ hub: string, household: string, computer: string, id: string, secret: Uint8Array,
 *   role: import("./roster.js").DeviceRole }} Invitation
 * @typedef {{ signingKey: Uint8Array, boxKey: Uint8Array, name: string }} Joining
 */

const pairMark = "/#pair=";
const vaultMark = "/#vault=";
const empty = new Uint8Array();
/** @type {import("./roster.js").DeviceRole[]} by the link's version, from 1 */
export const roles = ["companion", "computer", "administrator"];

/**
 * Throws FormatError: malformed, unknownVersion.
 * @param {string} link
 * @returns {Invitation}
 */
export function readLink(link) {
    const invitation = read(link, pairMark, "This is not a pairing link; scan the QR code again.", roles);
    if (invitation.role !== "computer") return invitation;
    throw new FormatError("unknownVersion",
        "This link is for a computer: run “applocker hub join” there. For a phone, run “applocker pair”.");
}

/**
 * An invitation to a shared vault, whose members have the rights of a household's computers. Throws as `readLink`.
 * @param {string} link
 * @returns {Invitation}
 */
export const readVaultLink = (link) =>
    read(link, vaultMark, "This invitation to a vault is incomplete; ask for it again.", ["computer"]);

/** @param {Invitation} invitation */
export const vaultLink = (invitation) => linkOf(invitation, vaultMark, 1);

/** @param {Invitation} invitation for a computer or a phone of the household */
export const pairingLink = (invitation) => linkOf(invitation, pairMark, roles.indexOf(invitation.role) + 1);

/** @param {Invitation} invitation @param {string} mark @param {number} version */
const linkOf = ({ hub, household, computer, id, secret }, mark, version) =>
    `${hub}${mark}${base64url(concat([version], unhex(household), unhex(computer), unhex(id), secret))}`;

/**
 * @param {string} link
 * @param {string} mark
 * @param {string} otherwise
 * @param {import("./roster.js").DeviceRole[]} versions
 * @returns {Invitation}
 */
function read(link, mark, otherwise, versions) {
    const start = link.indexOf(mark);
    const bytes = start < 0 ? null : unbase64url(link.slice(start + mark.length));
    if (!bytes) throw new FormatError("malformed", otherwise);
    const reader = new ByteReader(bytes, "invitation");
    const role = versions[reader.number(1) - 1];
    if (!role) {
        throw new FormatError("unknownVersion", "The invitation was made by a newer AppLocker; update this one.");
    }
    const [household, computer, id, secret] = [reader.id(), reader.id(), reader.id(), reader.bytes(32)];
    reader.end();
    return { hub: link.slice(0, start), household, computer, id, secret, role };
}

/**
 * 32 bytes that prove to the hub that the device has the link.
 * @param {Pick<Invitation, "secret">} invitation
 */
export const proofOf = (invitation) => hkdf(invitation.secret, empty, "applocker/1/pair-proof");

/** @param {Invitation} invitation */
export const proofHashOf = async (invitation) => sha256(await proofOf(invitation));

/** @param {Invitation} invitation */
const pairKey = async (invitation) => importGCMKey(await hkdf(invitation.secret, empty, "applocker/1/pair-key"));

/** @param {Invitation} invitation */
const bound = ({ household, computer, id }) => fields("applocker/1/pair", unhex(household), unhex(computer), unhex(id));

export const maximumName = 64;
/** @param {Uint8Array} name */
const isName = (name) => name.length >= 1 && name.length <= maximumName;

/**
 * The bytes of a device's name. Throws FormatError `malformed`.
 * @param {string} name
 */
export function requireName(name) {
    const text = utf8(name);
    if (!isName(text)) throw new FormatError("malformed", "A device’s name has 1 to 64 bytes; choose a shorter one.");
    return text;
}

/**
 * Call it once: the key seals one message. Throws FormatError `malformed` for the name.
 * @param {Invitation} invitation
 * @param {Joining} joining
 */
export async function sealJoin(invitation, { signingKey, boxKey, name }) {
    const text = requireName(name);
    return gcmSeal(await pairKey(invitation), pad(concat(signingKey, boxKey, text)), bound(invitation));
}

/**
 * Throws FormatError: damaged, malformed.
 * @param {Invitation} invitation
 * @param {Uint8Array} sealed
 * @returns {Promise<Joining>}
 */
export async function openJoin(invitation, sealed) {
    const padded = await gcmOpen(await pairKey(invitation), sealed, bound(invitation));
    const body = padded && unpad(padded);
    if (!body) throw new FormatError("damaged", "A device without the link tried to join.");
    const reader = new ByteReader(body, "joining device");
    const [signingKey, boxKey, name] = [reader.bytes(65), reader.bytes(65), reader.rest()];
    await importPublic(signingKey, "ECDSA");
    await importPublic(boxKey, "ECDH");
    if (!isName(name)) throw reader.malformed();
    try {
        return { signingKey, boxKey, name: textOf(name) };
    } catch {
        throw reader.malformed();
    }
}
