// Published vectors of the algorithms that the formats consist of.
import { openMessage } from "/crypto/box.js";
import { concat, hex, unhex, utf8 } from "/crypto/bytes.js";
import { importPrivate, importPublic, publicKeyOf } from "/crypto/p256.js";
import { gcmOpen, gcmSeal, hkdf, importGCMKey, pbkdf2 } from "/crypto/primitives.js";
import { isSignature } from "/crypto/signature.js";
import { equal, refusal, vectors } from "./harness.js";

async function sealing(file, count) {
    const list = (await vectors(file)).vectors;
    equal(list.length, count, `${file} is complete`);
    for (const [index, vector] of list.entries()) {
        const key = await importGCMKey(unhex(vector.key));
        const [nonce, data] = [unhex(vector.iv), unhex(vector.aad)];
        const sealed = unhex(vector.ct + vector.tag);
        const opened = await gcmOpen(key, sealed, data, nonce);
        const isValid = vector.result === "valid";
        equal(opened && hex(opened), isValid ? vector.msg : null, `${file} ${index}`);
        if (isValid) equal(hex(await gcmSeal(key, unhex(vector.msg), data, nonce)), hex(sealed), `${file} ${index}`);
    }
}

export const tests = {
    async sealingIsAES256GCM() {
        await sealing("nist_aes_gcm", 298);
        await sealing("wycheproof_aes_gcm", 66);
    },

    async derivationIsHKDFAndPBKDF2() {
        const derived = (await vectors("rfc5869_hkdf_sha256")).vectors;
        equal(derived.length, 3, "complete");
        for (const { material, salt, info, length, output } of derived) {
            equal(hex(await hkdf(unhex(material), unhex(salt), unhex(info), length)), output, "HKDF");
        }
        for (const { passcode, salt, rounds, output } of (await vectors("pbkdf2_sha256")).vectors) {
            equal(hex(await pbkdf2(utf8(passcode), unhex(salt), rounds, output.length / 2)), output, "PBKDF2");
        }
    },

    /** Only the first message of each context: a box contains one message. */
    async boxesAreHPKE() {
        const list = (await vectors("rfc9180_p256")).vectors;
        equal(list.length, 1, "complete");
        for (const vector of list) {
            const scalar = unhex(vector.skRm);
            const point = publicKeyOf(scalar);
            equal(hex(point), vector.pkRm, "the public key");
            const owner = { key: await importPrivate(scalar, point, "ECDH"), point };
            const message = vector.encryptions[0];
            const opened = await openMessage(
                unhex(message.ct), unhex(vector.enc), unhex(vector.info), unhex(message.aad), owner);
            equal(hex(opened), message.pt, "the message");
        }
    },

    async signaturesAreECDSAWithP256() {
        const list = (await vectors("wycheproof_ecdsa_p256")).vectors;
        equal(list.length, 252, "complete");
        for (const { tcId, publicKey, msg, sig, result } of list) {
            const key = await importPublic(unhex(publicKey), "ECDSA");
            equal(await isSignature(key, unhex(sig), unhex(msg)), result === "valid", `ECDSA ${tcId}`);
        }
    },

    async onlyUncompressedPointsOfTheCurveAreKeys() {
        const list = (await vectors("wycheproof_p256_points")).vectors;
        equal(list.length, 65, "complete");
        for (const { tcId, public: point, result } of list) {
            for (const use of ["ECDH", "ECDSA"]) {
                const code = await refusal(() => importPublic(unhex(point), use));
                equal(code, result === "valid" ? null : "malformed", `point ${tcId} for ${use}`);
            }
        }
    },

    async onlyScalarsBelowTheOrderArePrivateKeys() {
        const order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
        for (const bad of ["00".repeat(32), order, "ff".repeat(32), "01"]) {
            equal(await refusal(() => publicKeyOf(unhex(bad))), "malformed", bad);
        }
        const generator = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
        equal(hex(publicKeyOf(unhex("01".padStart(64, "0")))).slice(2, 66), generator, "one");
        equal(hex(publicKeyOf(unhex(order.slice(0, -1) + "0"))).slice(2, 66), generator, "the order less one");
        // A pair that the browser generated.
        const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
        const jwk = await crypto.subtle.exportKey("jwk", pair.privateKey);
        const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")),
            (c) => c.charCodeAt(0));
        equal(hex(publicKeyOf(bytes(jwk.d))), hex(concat([4], bytes(jwk.x), bytes(jwk.y))),
            "the public key of a new pair");
    },
};
