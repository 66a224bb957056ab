"""The calculator of the disguise calculates."""

import random
import re
from fractions import Fraction

import pytest

from disguise_steps import harmless, press, shown

pytestmark = pytest.mark.computer_is_off


def test_the_calculator_calculates(new_context, site):
    page = new_context(service_workers="block").new_page()
    page.goto(f"{site.address}/tests.html")
    # A browser that lost its data also shows the calculator, and needs no household for it.
    page.evaluate("""() => {
        localStorage.setItem("applocker-disguise", "calculator");
        localStorage.setItem("applocker-device/applocker", "1");
    }""")
    page.goto(site.address)
    harmless(page)
    for keys, wanted in (
        ("C12×3.5+8=", "50"),
        ("C0.1+0.2=", "0.3"),
        ("C200+10%=", "220"),
        ("C1÷3=", "0.333333333333"),
        ("×3=", "1"),
        ("C5±=", "−5"),
        ("C1÷0=", "Can’t divide by 0"),
        ("C999999×999999=", "999,998,000,001"),
        ("C", "0"),
    ):
        press(page, keys)
        assert shown(page) == wanted, (keys, shown(page))
    page.keyboard.type("c7*6-2")
    page.keyboard.press("Enter")
    assert shown(page) == "40", shown(page)
    page.keyboard.press("Backspace")
    page.keyboard.type("9/4=")
    assert shown(page) == "2.25", shown(page)


def test_results_equal_those_of_pythons_fractions(new_context, site):
    page = new_context().new_page()
    page.goto(f"{site.address}/tests.html")
    chance = random.Random(7)
    for _ in range(6):
        sums = []
        for _ in range(80):
            numbers = [
                f"{chance.randint(0, 9999)}.{chance.randint(0, 999)}"
                if chance.random() < 0.5
                else str(chance.randint(1, 99999))
                for _ in range(chance.randint(1, 7))
            ]
            text = numbers[0] + "".join(chance.choice("+-*/") + number for number in numbers[1:])
            try:
                value = eval(re.sub(r"[\d.]+", lambda number: f"Fraction('{number[0]}')", text))
            except ZeroDivisionError:
                continue
            sums.append([text, str(value.numerator), str(value.denominator)])
        wrong, written = page.evaluate(
            """async (sums) => {
            const { Calculator } = await import("/features/disguise/calculator.js");
            const { fraction, written } = await import("/features/disguise/calculation.js");
            const results = sums.map(([, ...parts]) => written(fraction(...parts.map(BigInt))));
            const wrong = sums.filter(([text], index) => {
                const calculator = new Calculator();
                const keys = text.replaceAll("*", "×").replaceAll("/", "÷").replaceAll("-", "−") + "=";
                for (const key of keys) calculator.press(key, 0);
                return calculator.display.replaceAll(",", "").replace("−", "-") !== results[index];
            });
            return [wrong, results];
        }""",
            sums,
        )
        assert len(sums) > 40 and wrong == [], wrong
        # The result is rounded as in Python, to twelve digits.
        for (text, numerator, denominator), found in zip(sums, written, strict=True):
            value = Fraction(int(numerator), int(denominator))
            assert abs(Fraction(found) - value) <= abs(value) * Fraction(1, 10**11), (text, found)
