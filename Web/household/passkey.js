// Face ID and fingerprint: a passkey whose PRF (W3C WebAuthn Level 3, section 10.1.4) yields 32 bytes that only it
// yields. Its signature is not verified: the 32 bytes have to unwrap the root key.
import { randomBytes } from "../crypto/bytes.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("./unlock.js").Passkey} Passkey */

/** Time limit in milliseconds. */
const patience = 60_000;

const withoutPRF = () => new CompanionError(
    "noPRF", "The passkeys of this device can’t store AppLocker’s key; use the PIN.");

/**
 * Whether this device may support it. A browser that reports so may lack PRF: only `createPasskey` shows it.
 * @returns {Promise<boolean>}
 */
export async function isAvailable() {
    if (typeof PublicKeyCredential === "undefined" || !isSecureContext) return false;
    try {
        // Newer browsers report their capabilities; WebAuthn Level 3, section 5.1.7.
        const capabilities = await (/** @type {any} */ (PublicKeyCredential)).getClientCapabilities?.();
        if (capabilities?.["extension:prf"] === false) return false;
        return await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
    } catch {
        return false;
    }
}

/**
 * Asks the person for a new passkey. Throws CompanionError `cancelled`, `notSupported`, `noPRF`.
 * @param {string} userName shown by the phone's list of passkeys
 * @returns {Promise<{ passkey: Passkey, output: Uint8Array }>} `output`: 32 bytes, to be wiped by the caller
 */
export async function createPasskey(userName) {
    const salt = randomBytes(32);
    const made = await asked(() => navigator.credentials.create({
        publicKey: {
            rp: { name: "AppLocker" },
            user: { id: randomBytes(32), name: userName, displayName: userName },
            challenge: randomBytes(32),
            // ES256 and RS256, as WebAuthn recommends.
            pubKeyCredParams: [{ type: "public-key", alg: -7 }, { type: "public-key", alg: -257 }],
            authenticatorSelection: {
                authenticatorAttachment: "platform", residentKey: "required", requireResidentKey: true,
                userVerification: "required",
            },
            timeout: patience,
            extensions: { prf: { eval: { first: salt } } },
        },
    }));
    const passkey = { credential: new Uint8Array(made.rawId), salt };
    const { prf } = made.getClientExtensionResults();
    const output = outputOf(prf);
    if (output) return { passkey, output };
    // Most return the output only when the passkey is used.
    if (!prf?.enabled) throw withoutPRF();
    return { passkey, output: await askPasskey(passkey) };
}

/**
 * Throws CompanionError `cancelled`, `notSupported`, `noPRF`.
 * @param {Passkey} passkey
 * @returns {Promise<Uint8Array>} 32 bytes, to be wiped by the caller
 */
export async function askPasskey({ credential, salt }) {
    const found = await asked(() => navigator.credentials.get({
        publicKey: {
            challenge: randomBytes(32),
            allowCredentials: [{ type: "public-key", id: credential, transports: ["internal"] }],
            userVerification: "required",
            timeout: patience,
            extensions: { prf: { eval: { first: salt } } },
        },
    }));
    const output = outputOf(found.getClientExtensionResults().prf);
    if (!output) throw withoutPRF();
    return output;
}

/**
 * A view of the browser's own bytes, so that wiping it leaves no copy of ours.
 * @param {PRFOutputs | undefined} prf
 */
function outputOf(prf) {
    const first = prf?.results?.first;
    return first?.byteLength === 32 ? new Uint8Array(first) : null;
}

/** @param {() => Promise<Credential | null>} ask @returns {Promise<PublicKeyCredential>} */
async function asked(ask) {
    if (typeof PublicKeyCredential === "undefined") {
        throw new CompanionError("notSupported", "This browser has no passkeys; use the PIN.");
    }
    try {
        const credential = await ask();
        if (credential instanceof PublicKeyCredential) return credential;
    } catch (error) {
        const name = error instanceof DOMException ? error.name : "";
        // Browsers report a refusal, a missing passkey and a time-out alike, so that sites learn nothing from it.
        if (name === "NotAllowedError" || name === "AbortError") {
            throw new CompanionError("cancelled",
                "The passkey was not used: it was cancelled, not recognised, or took too long.");
        }
        throw new CompanionError("notSupported", "This device can’t use a passkey for AppLocker here; use the PIN.",
            null, error);
    }
    throw new CompanionError("notSupported", "This device can’t use a passkey for AppLocker here; use the PIN.");
}
