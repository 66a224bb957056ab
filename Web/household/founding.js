// A phone founds a household. docs/formats.md, "Households of phones". Nothing is stored before a PIN is set, and the
// hub is asked only then, so that a start link is not used up by an abandoned set-up.
import { ByteReader, randomBytes, unbase64url } from "../crypto/bytes.js";
import { FormatError } from "../crypto/errors.js";
import { proofOf, readVaultLink, requireName } from "../crypto/invitation.js";
import { importPrivate } from "../crypto/p256.js";
import { sha256 } from "../crypto/primitives.js";
import { KeyRing } from "../crypto/ring.js";
import { foundedBy } from "../crypto/roster-writing.js";
import { HubClient } from "../hub/client.js";
import { CompanionError } from "./errors.js";
import { freshIdentity } from "./identity.js";
import { UnlockedKeys } from "./keys.js";
import { requireUnpaired } from "./pairing.js";
import { epochOf, sharedVaultID, withEpoch } from "./shared-keys.js";

/** @typedef {import("./pairing.js").Admitted} Admitted */
/**
 * What entitles a phone to found a household at a hub that is not open: the operator's link, or an invitation to a
 * shared vault.
 * @typedef {{ start?: string, vault?: string }} FoundingLinks
 */

const startMark = "/#start=";

/**
 * A start link's part after its mark. Throws FormatError `malformed`, `unknownVersion`, CompanionError `tooLate`.
 * @param {string} link
 * @param {number} now milliseconds since 1970
 */
export function readStartLink(link, now) {
    const begin = link.indexOf(startMark);
    const text = begin < 0 ? "" : link.slice(begin + startMark.length);
    const bytes = unbase64url(text);
    if (begin < 0 || !bytes) throw new FormatError("malformed", "This start link is incomplete; copy all of it.");
    const reader = new ByteReader(bytes, "start link");
    if (reader.number(1) !== 1) {
        throw new FormatError("unknownVersion", "The start link was made by a newer hub; update this app.");
    }
    reader.id();
    const expires = Number(reader.u64()) * 1000;
    reader.bytes(32);
    reader.end();
    if (expires <= now) {
        throw new CompanionError("tooLate", "This start link has expired; ask the hub’s operator for another one.");
    }
    return text;
}

/**
 * A household with this phone alone; `register` asks the hub for it. Throws FormatError and CompanionError for a link,
 * FormatError `malformed` for the name.
 * @param {DeviceSession} device
 * @param {string} hub its address
 * @param {string} name of this device, 1 to 64 bytes
 * @param {FoundingLinks} links
 * @returns {Promise<Admitted>}
 */
export async function found(device, hub, name, { start, vault }) {
    const now = device.time.now();
    // Else this phone could join no shared vault later.
    requireName(name);
    await requireUnpaired(device);
    const invitation = vault === undefined ? null : readVaultLink(vault);
    const text = start === undefined ? undefined : readStartLink(start, now);
    const { id, signing, box, token } = await freshIdentity();
    const key = await importPrivate(signing.scalar, signing.point, "ECDSA");
    const founder = { signingKey: signing.point, boxKey: box.point };
    const roster = await foundedBy(founder, key, now / 1000, "administrator");
    const { household } = roster;
    const own = new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar));
    const ring = withEpoch(own, household, await sharedVaultID(household), epochOf(roster));
    const keys = await UnlockedKeys.from(household, randomBytes(32), ring);
    const facts = { hub, household, computer: id, device: id, name, token, deviceSecret: randomBytes(32) };
    const register = async () => {
        await device.store.write({ facts: { unfinished: { hub, token, isFounder: true } } });
        await new HubClient(hub, token).foundMain({
            household, device: id, entry: roster.entries[0], tokenHash: await sha256(token), start: text,
            invitation: invitation && { id: invitation.id, proof: await proofOf(invitation) },
        });
    };
    return { facts, keys, roster, register };
}
