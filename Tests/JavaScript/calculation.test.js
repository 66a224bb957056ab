// The disguise's calculator: it calculates exactly, and offers a number as a PIN only by a deliberate gesture.
import { evaluate, fraction, parsed, written } from "/features/disguise/calculation.js";
import { Calculator } from "/features/disguise/calculator.js";
import { equal, expect } from "./harness.js";

/** Presses keys, a tenth of a second apart by default. @param {string} keys @param {Calculator} [calculator] */
function pressed(keys, calculator = new Calculator(), pause = 100) {
    const offers = [];
    let time = 0;
    for (const key of keys.replaceAll(" ", "").replaceAll("*", "×")
        .replaceAll("/", "÷").replaceAll("-", "−").replaceAll("<", "⌫")) {
        const offer = calculator.press(key, (time += pause));
        if (offer !== null) offers.push(offer);
    }
    return { calculator, offers, display: calculator.display, line: calculator.line };
}

/** @param {Record<string, string>} wanted */
function shows(wanted) {
    for (const [keys, display] of Object.entries(wanted)) equal(pressed(keys).display, display, keys);
}

export const tests = {
    itCalculatesWithPrecedence() {
        shows({
            "2+3*4=": "14", "2*3+4=": "10", "10-4/2=": "8", "8/4/2=": "1", "1-2-3=": "−4", "2*3*4-5*6=": "−6",
            "7=": "7", "": "0",
        });
    },

    decimalsAreExact() {
        shows({
            "0.1+0.2=": "0.3", "1.1*1.1=": "1.21", "0.3-0.1=": "0.2", "1/3*3=": "1", "2/3=": "0.666666666667",
            "1/8=": "0.125",
            ".5+.5=": "1", "100.10=": "100.1", "1000000*1000000=": "1,000,000,000,000",
            "1/7=": "0.142857142857", "5.=": "5",
            "999999999999999+1=": "1e15", "0.000001*0.000001=": "1e-12", "1.2.3=": "1.23",
            "123456.789*1=": "123,456.789" });
    },

    displayedResultsKeepTheirExactValue() {
        const { calculator } = pressed("1/3=");
        equal(pressed("*3=", calculator).display, "1", "times three");
    },

    percentagesFollowEverydayUsage() {
        shows({
            "200+10%=": "220", "200-10%=": "180", "200*10%=": "20", "50%=": "0.5", "50%+1=": "1.5",
            "100+5%+5%=": "110.25", "10%%=": "0.001", "80/20%=": "400",
        });
    },

    signAndCorrectionKeysChangeTheInput() {
        shows({
            "5±=": "−5", "5±±=": "5", "5+3±=": "2", "12<3=": "13", "12<<<=": "0", "5+<6=": "56", "5*-3=": "2",
            "5+=": "5", "1+2C": "0",
            "007=": "7", "50%<=": "50", "3+4=±": "−7", "3+4=+1=": "8", "3+4=5": "5", "-5=": "−5" });
    },

    impossibleCalculationsShowAnError() {
        shows({ "1/0=": "Can’t divide by 0", "0/0=": "Can’t divide by 0", "1/0=5": "5", "5/(": "5" });
        const calculator = pressed("9999999999999999").calculator;
        for (let index = 0; index < 20; index++) pressed("*9999999999999999", calculator);
        equal(pressed("=", calculator).display, "Too large", "16 digits, squared 20 times");
    },

    calculationsUseBoundedMemory() {
        const calculator = pressed("1/3=").calculator;
        // Squared, its denominator would have 2^60 digits: without a bound this would not end.
        for (let index = 0; index < 60; index++) pressed("*1.000000001/1.0000000007=", calculator);
        for (let index = 0; index < 5000; index++) calculator.press("7", 0);
        for (let index = 0; index < 5000; index++) pressed("+7", calculator);
        pressed("=", calculator);
        expect(calculator.display.length < 80, calculator.display);
    },

    numbersAreFormattedForTheDisplay() {
        for (const [numerator, denominator, text] of /** @type {[bigint, bigint, string][]} */ ([
            [0n, 1n, "0"], [-3n, 4n, "-0.75"], [1n, 3n, "0.333333333333"], [2n, 3n, "0.666666666667"],
            [10n ** 15n, 1n, "1e15"],
            [10n ** 15n - 1n, 1n, "999999999999999"], [99999999999995n, 10n ** 14n, "1"],
            [1n, 10n ** 9n, "0.000000001"],
            [1n, 10n ** 10n, "1e-10"], [123456789n, 10n ** 20n, "1.23456789e-12"],
            [5n * 10n ** 40n, 3n, "1.66666666667e40"]])) {
            equal(written(fraction(numerator, denominator)), text, `${numerator} / ${denominator}`);
        }
        equal(written(parsed("0012.50")), "12.5", "leading zeros");
        equal(written(evaluate({ value: parsed("2"), percents: 0 }, [["×", { value: parsed("3"), percents: 0 }]])), "6",
            "two times three");
    },

    aNumberWithEqualsTwiceIsOfferedAsAPIN() {
        equal(pressed("628495==").offers, ["628495"], "six digits");
        equal(pressed("039184==").offers, ["039184"], "offered with its leading zero");
        equal(pressed("6284955<==").offers, ["628495"], "corrected");
        equal(pressed("1+1=628495==").offers, ["628495"], "after a calculation");
        equal(pressed("628495====").offers, ["628495"], "once");
        const typed = "12345678901234567890123456789012";
        equal(pressed(`${typed}==`).offers, [typed], "32 digits");
        const held = pressed("628495").calculator;
        equal(held.hold(), "628495", "held");
        equal(pressed("=", held).offers, [], "a held number, offered again");
    },

    ordinaryCalculationsOfferNoPIN() {
        for (const keys of [
            "628495=", "73918==", "700000+39184==", "628495+==", "628495±==", "628495%==", "7391.84==", "628495=+==",
            "==", "1/0===", "628495+0==",
            "628495=C==", "628495=<=="]) {
            equal(pressed(keys).offers, [], keys);
        }
        equal(pressed("628495==", new Calculator(), 2000).offers, [], "= pressed twice, slowly");
        equal(pressed("12+628495").calculator.hold(), null, "holding within a calculation");
        equal(pressed("12345").calculator.hold(), null, "holding with five digits");
    },

    forgettingLeavesNothing() {
        const { calculator } = pressed("628495=");
        calculator.forget();
        equal([calculator.display, calculator.line, calculator.hold()], ["0", "", null], "display, line, held number");
        equal(pressed("=", calculator).offers, [], "offered numbers");
    },
};
