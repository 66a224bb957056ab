// The code that is typed where an invitation's link can be neither scanned nor pasted: by the device that types it.
// docs/formats.md, "Typed code".
import { plainCode } from "../crypto/base32.js";
import { pairingLink, proofOf, vaultLink } from "../crypto/invitation.js";
import { groupCount, groupLength, isRightGroup, openDetails, readCode } from "../crypto/pairing-code.js";
import { HubClient } from "../hub/client.js";
import { HubError } from "../hub/errors.js";
import { CompanionError } from "./errors.js";

const codeLength = groupCount * groupLength;

/**
 * What was typed, in groups with "-" between.
 * @param {string} typed
 */
export const groupedCode = (typed) =>
    (plainCode(typed).slice(0, codeLength).match(new RegExp(`.{1,${groupLength}}`, "g")) ?? []).join("-");

/**
 * The first group that is complete and wrong, from 1, or 0; and whether the code can be used.
 * @param {string} typed
 */
export async function checkedCode(typed) {
    const groups = groupedCode(typed).split("-").filter(({ length }) => length === groupLength);
    const areRight = await Promise.all(groups.map(isRightGroup));
    const wrong = areRight.indexOf(false) + 1;
    return { wrong, isReady: wrong === 0 && groups.length === groupCount };
}

/**
 * The link that the code stands for, at the hub of this page. Throws CompanionError `refused`, FormatError, HubError,
 * HubUnreachable.
 * @param {string} typed
 */
export async function linkOfCode(typed) {
    const code = await readCode(typed);
    const hub = location.origin;
    try {
        const sealed = await new HubClient(hub, new Uint8Array()).invitationDetails(code.id, await proofOf(code));
        const { kind, ...details } = await openDetails(code, sealed);
        return (kind === "vault" ? vaultLink : pairingLink)({ ...code, ...details, hub });
    } catch (error) {
        if (!(error instanceof HubError) || !["not_found", "gone"].includes(error.code)) throw error;
        throw new CompanionError("refused",
            "This hub has no invitation with this code, or it is over: a code works once, for five minutes.");
    }
}
