// Which PINs are refused, and what is explained before a short one is set.
import { checkPIN, shortPINRisk } from "/household/pin-rules.js";
import { checkPINForIdentity } from "/ui/app-identity.js";
import { equal, refusal } from "./harness.js";

const check = async (pins, code) => {
    for (const pin of pins) equal(await refusal(() => checkPIN(pin)), code, pin);
};

export const tests = {
    digitsFromFourAndLettersFromSixAreAccepted: () =>
        check(["7391", "70391", "804615", "pferde", "80461500000000000000000000000000"], null),

    shortLettersRunsRepeatsDatesAndCommonPINsAreRefused: () =>
        check(["", "739", "abyz", "7a91", "pferd", "1234", "4321", "12345", "1111", "1212", "1984", "2026", "2580",
            "123456", "aaaaaa", "01011990", "qwerty"], "weakPIN"),

    aShortPINIsExplainedByTheChanceOfTenGuesses() {
        equal(shortPINRisk("804615"), null, "six digits");
        equal(shortPINRisk("pferde"), null, "six letters");
        equal(/10 of 10,000 .* 1 in 1,000;/.test(shortPINRisk("7391")), true, "four digits");
        equal(/10 of 100,000 .* 1 in 10,000;/.test(shortPINRisk("73918")), true, "five digits");
    },

    async aDisguiseNeedsSixDigitsOrMore() {
        const checked = (pin) => refusal(() => checkPINForIdentity(pin, "calculator"));
        equal([await checked("7391"), await checked("pferde"), await checked("804615")], ["weakPIN", "weakPIN", null],
            "short numbers are calculated every day");
        equal([await refusal(() => checkPINForIdentity("7391", "notes")), await refusal(() =>
            checkPINForIdentity("804615", "notes"))], ["weakPIN", null], "short numbers are written every day");
        equal(await refusal(() => checkPINForIdentity("7391", "applocker")), null, "without the disguise");
    },
};
