"""The app itself in WebKit: paired by its pages, a note written, the page loaded again, and opened without a hub."""

import os
import pathlib
import time

from webkit import started

PIN = "739184"
CLICK = """
const [role, name] = arguments;
const found = [...document.querySelectorAll(role)].find((one) =>
    (one.getAttribute("aria-label") ?? one.textContent).trim() === name && !one.disabled && one.checkVisibility());
found?.click();
return Boolean(found);
"""
TYPE = """
const [label, text] = arguments;
const field = document.querySelector(`[aria-label="${label}"]`);
if (!field) return false;
field.focus();
field.value = text;
field.dispatchEvent(new Event("input", { bubbles: true }));
return true;
"""
# What the app itself does not understand goes to the console, which WebDriver does not read here.
COMPLAINTS = """
window.complaints = [];
const before = console.error;
console.error = (...words) => {
    window.complaints.push(words.map((word) => (word instanceof Error ? `${word} ${word.stack}` : String(word))).join(" "));
    before(...words);
};
"""
SHOWS = "return document.body.innerText.includes(arguments[0]);"


class Person:
    def __init__(self, browser):
        self.browser = browser

    def until(self, script, *arguments, seconds=45):
        end = time.monotonic() + seconds
        while not self.browser.evaluate(script, *arguments):
            if time.monotonic() > end:
                text = self.browser.evaluate("return document.body.innerText;")
                complaints = self.browser.evaluate("return window.complaints ?? [];")
                raise AssertionError(f"{arguments} did not come; the page says: {text[:400]} {complaints}")
            time.sleep(0.1)

    def sees(self, text):
        self.until(SHOWS, text)

    def presses(self, name, role="button"):
        self.until(CLICK, role, name)

    def types_pin(self):
        for digit in PIN:
            self.presses(digit, ".keypad button")
        # The key that goes on says what it does; it is the last one.
        self.until("const key = [...document.querySelectorAll('.key-go')].at(-1); key?.click(); return Boolean(key);")

    def picture(self, name):
        if folder := os.environ.get("APPLOCKER_PICTURES"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            self.browser.picture(f"{folder}/webkit-{name}.png")


def run(computer):
    """The results, as harness.js has them."""
    results = []

    def shown(name, act):
        start, failure = time.monotonic(), None
        try:
            act()
        except Exception as error:  # Whatever it is, the test failed by it.
            failure = str(error)
            person.picture("failed")
        results.append({"name": name, "failure": failure, "milliseconds": round((time.monotonic() - start) * 1000)})
        return failure is None

    def pairs():
        browser.goto(computer.asked(["pair"]))
        person.presses("Pair this device")
        person.sees("Choose a PIN")
        person.types_pin()
        person.sees("Type it again")
        person.types_pin()
        person.sees("Monitoring")
        person.picture("home")

    def writes():
        browser.evaluate(COMPLAINTS)
        browser.evaluate("location.hash = '#/notes';")
        person.sees("Open your notes")
        person.types_pin()
        person.presses("Write a note")
        person.until(TYPE, "Title", "Under the stair")
        person.until(TYPE, "Text", "the blue envelope")
        person.sees("Saved")
        person.picture("note")

    def opens_without_a_hub():
        person.until("return navigator.serviceWorker?.controller != null;")
        computer.asked(["stop-hub"])
        browser.call("POST", browser.session + "/refresh", {})
        person.sees("AppLocker is locked")
        person.types_pin()
        person.sees("A passkey opens offline")
        person.picture("offline")
        computer.asked(["start-hub"])
        person.types_pin()
        person.sees("Open your notes")
        person.types_pin()
        person.sees("Under the stair")

    with started() as browser:
        person = Person(browser)
        for name, act in (("theAppIsPairedByItsPages", pairs), ("aNoteIsWritten", writes), ("theAppOpensWithoutAHub", opens_without_a_hub)):
            if not shown(name, act):
                break
    return results
