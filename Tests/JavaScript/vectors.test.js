// A companion opens or refuses every vector of the formats that it reads, as Swift does.
import { isAccepted } from "/household/keys.js";
import { boxOwner, openBox } from "/crypto/box.js";
import { base64, concat, fields, hex, unhex, utf8 } from "/crypto/bytes.js";
import { openEnvelope } from "/crypto/envelope.js";
import { FormatError } from "/crypto/errors.js";
import { openJoin, pairingLink, proofHashOf, proofOf, readLink, readVaultLink, sealJoin,
    vaultLink } from "/crypto/invitation.js";
import { makeCode, openDetails, readCode, sealDetails } from "/crypto/pairing-code.js";
import { importPublic, publicKeyOf } from "/crypto/p256.js";
import { pairingWords, wordsOf } from "/crypto/pairing-words.js";
import { sha256 } from "/crypto/primitives.js";
import { KeyRing } from "/crypto/ring.js";
import { numberOf, Roster } from "/crypto/roster.js";
import { contentDigest, deviceID, verify, verifyRecord } from "/crypto/signature.js";
import { KeySlots } from "/crypto/slots.js";
import { ContentStream, openContent, sealContentWith, streamName } from "/crypto/stream.js";
import { equal, expect, refusal, vectors } from "./harness.js";

/** Byte i is (seed + i + floor(i / 256) * 31) mod 256. */
const contentOf = ({ size, seed }) =>
    Uint8Array.from({ length: size }, (_, index) => seed + index + Math.floor(index / 256) * 31);

function edited(sealed, edit) {
    if (edit.length === 0) return sealed;
    const size = (1 << 16) + 16;
    const [operation, first, second] = edit;
    const changed = sealed.slice();
    if (operation === "flip") changed[first] ^= 1 << second;
    if (operation === "set") changed[first] = second;
    if (operation === "cut") return sealed.slice(0, first);
    if (operation === "append") return concat(sealed, unhex(first));
    const chunks = [];
    for (let start = 72; start < sealed.length; start += size) chunks.push(sealed.slice(start, start + size));
    if (operation === "swap") [chunks[first], chunks[second]] = [chunks[second], chunks[first]];
    else if (operation === "drop") chunks.splice(first, 1);
    else if (operation === "repeat") chunks.splice(first, 0, chunks[first]);
    else return changed;
    return concat(sealed.slice(0, 72), ...chunks);
}

/** @param {string} file @param {[number, number]} counts numbers of vectors that open and that are refused */
async function all(file, counts, opens, refused) {
    const document = await vectors(file);
    equal([document.opens.length, document.refused.length], counts, `${file} is complete`);
    for (const vector of document.opens) await opens(vector);
    for (const vector of document.refused) {
        equal(await refusal(() => refused(vector)), vector.error, `${file}: ${vector.name}`);
    }
}

async function readSlots(vector) {
    const slots = KeySlots.read(unhex(vector.block));
    if (!vector.kek) return;
    const found = await slots.open(unhex(vector.kek));
    if (!found) throw new FormatError("wrongKey", "no slot");
}

const readRing = (vector) => KeyRing.open(unhex(vector.ring), unhex(vector.rootKey));
const readEnvelope = (vector) => openEnvelope(unhex(vector.envelope), vector.record, unhex(vector.vaultKey));
const readBox = async (vector) =>
    openBox(unhex(vector.box), vector.record, await boxOwner(unhex(vector.privateKey)));
const readRoster = (vector) => Roster.read(vector.entries.map(unhex));

async function readInvitation(vector) {
    const invitation = readLink(vector.link);
    return { invitation, joining: await openJoin(invitation, unhex(vector.join ?? "")) };
}

async function readTypedCode(vector) {
    const code = await readCode(vector.typed);
    return { code, details: await openDetails(code, unhex(vector.details)) };
}

const isSigned = async (vector) =>
    verify(
        await importPublic(unhex(vector.publicKey), "ECDSA"), unhex(vector.signature), unhex(vector.message),
        vector.purpose);

const isSignedRecord = async (vector) => {
    const digest = await contentDigest(vector.sealed && unhex(vector.sealed));
    const { epoch, author, blobs } = vector;
    return verifyRecord(
        await importPublic(unhex(vector.publicKey), "ECDSA"), vector.record, { epoch, author, blobs, digest },
        unhex(vector.signature));
};

export const tests = {
    async aVaultBelongsToTheFirstComputerThatSentItsKey() {
        const { steps } = await vectors("vault_owners");
        const owners = {};
        let ring = new KeyRing([]);
        for (const { sender, members, keys, comment } of steps) {
            const entries = keys.map((entry) => ({ ...entry, key: unhex(entry.key) }));
            const accepted = entries.map((entry) =>
                isAccepted(entry, sender, ring, owners, (one) => members.includes(one)));
            equal(accepted, keys.map((entry) => entry.accepted), comment);
            ring = new KeyRing([...ring.entries, ...entries.filter((_, index) => accepted[index])]);
        }
    },

    keySlotBlocksOpenWithTheirPasscode: () =>
        all("slots", [5, 25], async (vector) => {
            const slots = KeySlots.read(unhex(vector.block));
            if (slots.bytes[5] === 2) {
                const mixed = vector.mixedSecret && unhex(vector.mixedSecret);
                const kek = await slots.kek(await slots.stretch(utf8(vector.passcode)), mixed);
                equal(hex(kek), vector.kek, vector.name);
                equal(await refusal(() => slots.kek(new Uint8Array(32), mixed ? null : new Uint8Array(32))),
                    "machineSecretMissing", vector.name);
            } else {
                equal(await refusal(() => slots.stretch(utf8(vector.passcode))), "unknownAlgorithm", "scrypt");
            }
            const found = await slots.open(unhex(vector.kek));
            equal([hex(found.rootKey), found.slot], [vector.rootKey, vector.slot], vector.name);
        }, readSlots),

    validKeyRingsOpenAndInvalidOnesAreRefused: () =>
        all("ring", [3, 23], async (vector) => {
            const ring = await readRing(vector);
            equal(ring.entries.map((entry) => ({ ...entry, key: hex(entry.key) })), vector.entries, vector.name);
        }, readRing),

    validRecordEnvelopesOpenAndInvalidOnesAreRefused: () =>
        all("envelope", [18, 32], async (vector) => {
            equal(hex(await readEnvelope(vector)), vector.body, vector.name);
        }, readEnvelope),

    validBoxesOpenAndInvalidOnesAreRefused: () =>
        all("box", [5, 22], async (vector) => {
            equal(hex(publicKeyOf(unhex(vector.privateKey))), vector.publicKey, vector.name);
            equal(hex(await readBox(vector)), vector.body, vector.name);
        }, readBox),

    async streamsAreOpenedOrRefused() {
        const document = await vectors("stream");
        equal([document.opens.length, document.refused.length], [10, 29], "stream is complete");
        const streams = new Map();
        for (const vector of document.opens) {
            const [key, name, content] = [unhex(vector.contentKey), streamName(vector.stream), contentOf(vector)];
            const stream = await ContentStream.opening(unhex(vector.header), name, key);
            const sealed = await sealContentWith(stream, content);
            equal(sealed.length, vector.sealedSize, vector.name);
            equal(hex(await sha256(sealed)), vector.sealedSHA256, vector.name);
            equal(hex(await sha256(await openContent(sealed, name, key))), vector.contentSHA256, vector.name);
            streams.set(vector.name, { sealed, vector });
        }
        for (const vector of document.refused) {
            const { sealed, vector: original } = streams.get(vector.of);
            const code = await refusal(() => openContent(
                edited(sealed, vector.edit), streamName(vector.stream ?? original.stream),
                unhex(vector.contentKey ?? original.contentKey)));
            equal(code, vector.error, `stream: ${vector.name}`);
        }
    },

    async signaturesAreAcceptedOrRefused() {
        const document = await vectors("signature");
        equal([document.opens.length, document.refused.length], [4, 13], "signature is complete");
        for (const vector of document.opens) expect(await isSigned(vector), vector.name);
        for (const vector of document.refused) expect(!(await isSigned(vector)), `${vector.name} is refused`);
    },

    async signedRecordsAreAcceptedOrRefused() {
        const document = await vectors("signed_record");
        equal([document.opens.length, document.refused.length], [4, 12], "signed_record is complete");
        for (const vector of document.opens) {
            expect(await isSignedRecord(vector), vector.name);
            equal(await deviceID(unhex(vector.publicKey)), vector.author, vector.name);
        }
        for (const vector of document.refused) expect(!(await isSignedRecord(vector)), `${vector.name} is refused`);
    },

    validRostersAreReadAndInvalidOnesRefused: () =>
        all("roster", [7, 37], async (vector) => {
            const roster = await readRoster(vector);
            const members = roster.members.map((member) => ({
                id: member.id, role: numberOf(member.role), signingKey: hex(member.signingKey),
                boxKey: hex(member.boxKey),
            }));
            equal([roster.household, hex(roster.head), members, [...roster.revoked].sort()],
                [vector.household, vector.head, vector.members, vector.revoked], vector.name);
        }, readRoster),

    pairingCodesAreReadAsTypedAndOpenTheirDetails: () =>
        all("pairing_code", [7, 14], async (vector) => {
            const { code, details } = await readTypedCode(vector);
            const { role, household, computer } = details;
            equal([code.id, hex(code.secret), role, household, computer],
                [vector.invitation, vector.secret, vector.role, vector.household, vector.computer], vector.name);
            const link = pairingLink({ ...code, ...details, hub: "https://hub.example" });
            equal(readLink(link).id, code.id, "the link of the code");
            const made = await makeCode(unhex(vector.code));
            equal([made.text, made.id, hex(made.secret)], [vector.text, vector.invitation, vector.secret],
                `${vector.name}, made here`);
            const sealed = await sealDetails({ ...details, ...made }, vector.role);
            equal(hex(sealed), vector.details, `${vector.name}, its details`);
        }, readTypedCode),

    async aCodeOfASharedVaultLeadsToItsLink() {
        const code = await makeCode();
        const [household, computer] = ["c5b825fae53b1f64eb0d0dd2ad751b20", "68abca5fbe2a5e50499d132204010a8e"];
        const sealed = await sealDetails({ ...code, household, computer, role: "computer" }, "vault");
        const typed = await readCode(code.text.toLowerCase());
        const { kind, ...details } = await openDetails(typed, sealed);
        equal(kind, "vault", "the kind");
        equal(readVaultLink(vaultLink({ ...typed, ...details, hub: "https://hub.example" })), {
            hub: "https://hub.example", household, computer, id: code.id, secret: code.secret, role: "computer",
        }, "the link");
        const other = await makeCode();
        equal(await refusal(() => openDetails(other, sealed)), "damaged", "another code");
    },

    pairingLinksAreReadAndJoinsOpened: () =>
        all("invitation", [5, 15], async (vector) => {
            if (vector.role === "computer") {
                equal(await refusal(() => readLink(vector.link)), "unknownVersion", vector.name);
                return;
            }
            const { invitation, joining } = await readInvitation(vector);
            const found = {
                hub: invitation.hub, household: invitation.household, computer: invitation.computer,
                invitation: invitation.id, proof: hex(await proofOf(invitation)),
                proofHash: hex(await proofHashOf(invitation)), signingKey: hex(joining.signingKey),
                boxKey: hex(joining.boxKey), words: await wordsOf(invitation, joining), deviceName: joining.name,
                role: invitation.role,
            };
            for (const [key, value] of Object.entries(found)) equal(value, vector[key], `${vector.name}: ${key}`);
            equal(hex(await sealJoin(invitation, joining)), vector.join, vector.name);
        }, readInvitation),

    async theWordsOfAPairingAreThoseOfTheSharedList() {
        equal(pairingWords, await vectors("pairing_words"), "the list");
        // Words that are read aloud or compared at a glance must not be mistaken for each other.
        equal(new Set(pairingWords.map((word) => word.slice(0, 3))).size, 256, "different first letters");
    },

    async thePairingWordsDependOnTheInvitationAndOnBothKeys() {
        const { opens: [vector] } = await vectors("invitation");
        const { invitation, joining } = await readInvitation(vector);
        const changed = (bytes) => bytes.map((byte, index) => (index === 64 ? byte ^ 1 : byte));
        const other = "0".repeat(32);
        for (const [one, two] of [
            [{ ...invitation, secret: invitation.secret.map((byte) => byte ^ 1) }, joining],
            [{ ...invitation, household: other }, joining], [{ ...invitation, computer: other }, joining],
            [{ ...invitation, id: other }, joining],
            [invitation, { ...joining, signingKey: changed(joining.signingKey) }],
            [invitation, { ...joining, boxKey: changed(joining.boxKey) }],
        ]) expect((await wordsOf(one, two)).join() !== vector.words.join(), "other words");
    },

    fieldsAndBase64EncodeAnyBytes() {
        equal(hex(fields("a", Uint8Array.of(1, 2))), "0000000161000000020102", "fields");
        const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index);
        equal(Uint8Array.from(atob(base64(bytes)), (character) => character.charCodeAt(0)).join(),
            bytes.join(), "base64");
    },
};
