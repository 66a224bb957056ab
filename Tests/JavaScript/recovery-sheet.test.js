// A recovery sheet's code, its link and the device that is derived from them, as Vectors/recovery.json and
// Vectors/recovery_sheet.json have them.
import { hex, unhex } from "/crypto/bytes.js";
import { plainCode } from "/crypto/base32.js";
import { codeGroups, readCode } from "/crypto/recovery-code.js";
import { derivedDevice, derivedToken, readRecoveryLink, recoveryLink } from "/crypto/derived-device.js";
import { equal, expect, refusal, vectors } from "./harness.js";

export const tests = {
    async codesAreReadAsPeopleTypeThem() {
        const { opens, refused } = await vectors("recovery");
        for (const { name, secret, printed, passcode, typed } of opens) {
            equal((await codeGroups(unhex(secret))).join("-"), printed, name);
            for (const one of typed) {
                equal(hex(await readCode(one)), secret, `${name}: ${one}`);
                equal(plainCode(one), passcode, `${name}: ${one}`);
            }
        }
        for (const { name, typed, error } of refused) equal(await refusal(() => readCode(typed)), error, name);
        expect(opens.length > 5 && refused.length > 10, "vectors");
    },

    async aSheetIsADeviceOfItsHousehold() {
        const { opens, refused } = await vectors("recovery_sheet");
        for (const vector of opens) {
            const secret = unhex(vector.secret);
            const { id, signing, box, token } = await derivedDevice(secret, vector.purpose, vector.household);
            equal({
                device: id, signing: hex(signing.scalar), signingKey: hex(signing.point), box: hex(box.scalar),
                boxKey: hex(box.point), token: hex(token),
            }, {
                device: vector.device, signing: vector.signing, signingKey: vector.signingKey, box: vector.box,
                boxKey: vector.boxKey, token: vector.token,
            }, vector.name);
            equal(hex(await derivedToken(secret, vector.purpose)), vector.token, vector.name);
            if (!vector.link) continue;
            const sheet = readRecoveryLink(vector.link);
            equal([sheet.household, hex(sheet.secret)], [vector.household, vector.secret], vector.name);
            equal(recoveryLink(sheet), vector.link, vector.name);
        }
        for (const { name, link, error } of refused) equal(await refusal(() => readRecoveryLink(link)), error, name);
        expect(opens.length === 4 && refused.length === 8, "vectors");
    },

    async aSheetOfAnotherHouseholdHasOtherKeysAndOneToken() {
        const { opens: [, one, other] } = await vectors("recovery_sheet");
        equal(one.secret, other.secret, "the same code");
        expect(one.signingKey !== other.signingKey && one.boxKey !== other.boxKey, "other keys");
        equal(one.token, other.token, "the token, by which the hub finds the household");
    },
};
