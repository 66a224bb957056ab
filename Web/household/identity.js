// The keys and the token that a device joins a household with.
import { randomBytes } from "../crypto/bytes.js";
import { proofOf, sealJoin } from "../crypto/invitation.js";
import { freshPair } from "../crypto/p256.js";
import { wordsOf } from "../crypto/pairing-words.js";
import { sha256 } from "../crypto/primitives.js";
import { deviceID } from "../crypto/signature.js";
import { HubClient } from "../hub/client.js";

/** @typedef {import("../crypto/derived-device.js").DerivedDevice} Identity */

/** @returns {Promise<Identity>} of a new device */
export async function freshIdentity() {
    const [signing, box] = [await freshPair(), await freshPair()];
    return { id: await deviceID(signing.point), signing, box, token: randomBytes(32) };
}

/**
 * Asks to be admitted by an invitation, in its role. Throws FormatError `malformed` for the name, HubError (`gone`,
 * `not_found`), HubUnreachable.
 * @param {import("../crypto/invitation.js").Invitation} invitation
 * @param {Identity} identity
 * @param {string} name 1 to 64 bytes
 * @returns {Promise<string[]>} the words to compare
 */
export async function requestToJoin(invitation, { id, signing, box, token }, name) {
    const joining = { signingKey: signing.point, boxKey: box.point, name };
    const sealed = await sealJoin(invitation, joining);
    await new HubClient(invitation.hub, token).join(invitation.id, {
        proof: await proofOf(invitation), device: id, tokenHash: await sha256(token), sealed, role: invitation.role,
    });
    return wordsOf(invitation, joining);
}
