"""The companion in WebKit: its modules, the scenario with a real hub and computer, and the app itself."""

import base64
import contextlib
import os
import pathlib

import pytest
from selenium.webdriver.common.keys import Keys

import javascript
import pages
import webkit
from phone import PIN
from recordings import sound, video
from relay import Relay
from waiting import eventually

# These share a browser, which takes longer to start than their tests.
FORMATS = """vectors recovery-sheet founding published-vectors moment-vectors sealing sha256 sealed-pieces
    recording-type webm-duration exif image-metadata zip sync-loop""".split()
MODULES = [*FORMATS, *"untrusted-hub revoked moments audit decoy decoy-changes".split()]
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
# The app reports unexpected errors on the console, which WebDriver does not read here.
CONSOLE_ERRORS = """
window.consoleErrors = [];
const before = console.error;
console.error = (...words) => {
    const text = (word) => (word instanceof Error ? `${word} ${word.stack}` : String(word));
    window.consoleErrors.push(words.map(text).join(" "));
    before(...words);
};
"""

PROBE = (pathlib.Path(__file__).parent / "support/layout.js").read_text().strip()
ROOT_SIZE = "document.documentElement.style.setProperty('font-size', `${0.16 * arguments[0]}px`);"


@pytest.fixture(scope="session")
def display():
    with webkit.screen() as display:
        yield display


@pytest.fixture(scope="session")
def browsers_by_module(display):
    with pages.served() as address:

        @contextlib.contextmanager
        def browser(module):
            with webkit.started(display) as browser:
                browser.get(address + "/tests.html")
                yield browser

        with contextlib.closing(javascript.SharedByModule(browser, FORMATS)) as shared:
            yield shared


@pytest.mark.parametrize(
    "module, name",
    [
        pytest.param(
            module, name, marks=pytest.mark.xdist_group(f"webkit-{'formats' if module in FORMATS else module}")
        )
        for module in MODULES
        for name in javascript.names(module)
    ],
)
def test_in_webkit(browsers_by_module, module, name):
    with browsers_by_module.use(module, name) as browser:
        webkit.run(browser, module, name, {"reader": javascript.independent_reader})


@pytest.fixture
def webkit_browser(display):
    """WebKit instead of Chromium."""
    with webkit.started(display) as browser:
        yield browser


def test_the_companions_core_works_in_webkit(webkit_browser, computer):
    """With a network between the browser and the hub that can be disconnected."""
    browser = webkit_browser
    computer.open_vault()
    network = Relay(computer.port)

    def run_command(words):
        output = computer.run_command(words)
        return output.replace(f":{computer.port}/", f":{network.port}/") if words == ["pair"] else output

    browser.get(f"http://127.0.0.1:{network.port}/tests.html")
    for name in javascript.names("scenario"):
        webkit.run(browser, "scenario", name, {"computer": run_command, "offline": network.set_offline})


CLICK_ROW = """
const row = [...document.querySelectorAll("button.row")].find((one) => one.innerText.includes(arguments[0]));
row?.click();
return Boolean(row);"""
TYPE_CODE = """
const field = document.querySelector("input[name=code]");
if (field) field.value = arguments[0];
return Boolean(field);"""
# Types the two groups that are asked for; returns the whole code.
USE_SHEET = """
const groups = [...document.querySelectorAll(".recovery-paper-code li")].map((one) => one.textContent);
for (const field of document.querySelectorAll(".recovery-groups input")) {
    field.value = groups[Number(field.name.split("-")[1]) - 1];
}
return groups.join("-");"""


class Person:
    """What a person sees and does on the app's screens."""

    def __init__(self, browser):
        self.browser = browser

    def until(self, script, *arguments):
        eventually(lambda: self.browser.execute_script(script, *arguments), lambda: f"{arguments}: {self.shown()}")

    def shown(self):
        text = self.browser.execute_script("return document.body?.innerText ?? '';")
        return f"the page shows: {text[:400]} {self.browser.execute_script('return window.consoleErrors ?? [];')}"

    def sees(self, text):
        self.until("return document.body.innerText.includes(arguments[0]);", text)

    def presses(self, name, role="button"):
        self.until(CLICK, role, name)

    def types_pin(self):
        for digit in PIN:
            self.presses(digit, ".keypad button")
        # The label of the key that confirms varies; it is the last one.
        self.until("const key = [...document.querySelectorAll('.key-go')].at(-1); key?.click(); return Boolean(key);")

    def picture(self, name):
        if folder := os.environ.get("APPLOCKER_PICTURES"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            self.browser.save_screenshot(f"{folder}/webkit-{name}.png")


def test_the_app_pairs_writes_a_note_and_opens_without_a_hub(webkit_browser, computer):
    browser = webkit_browser
    person = Person(browser)
    browser.get(computer.pair())
    person.presses("Pair this device")
    person.sees("Choose a PIN")
    person.types_pin()
    person.sees("Repeat the PIN")
    person.types_pin()
    person.sees("Lock the vault")
    person.picture("home")

    browser.execute_script(CONSOLE_ERRORS)
    browser.execute_script("location.hash = '#/notes';")
    person.sees("Open your notes")
    person.types_pin()
    person.presses("Write a note")
    person.until(TYPE, "Title", "Under the stair")
    person.until(TYPE, "Text", "the blue envelope")
    person.sees("Saved")
    person.picture("note")

    person.until("return navigator.serviceWorker?.controller != null;")
    computer.stop_hub()
    browser.refresh()
    person.sees("AppLocker is locked")
    person.types_pin()
    person.sees("Your PIN works again once the hub is reachable")
    person.picture("offline")
    computer.start_hub()
    person.types_pin()
    person.sees("Open your notes")
    person.types_pin()
    person.sees("Under the stair")


# The clock stands still: Enter pressed twice is within a second and a half on any machine.
NOTE_PAD = """
performance.now = () => 0;
window.offered = [];
const offer = (digits) => window.offered.push(digits);
import("/features/disguise/note-pad-page.js").then(({ notePadPage }) =>
    document.body.append(notePadPage({ offer, other() {}, signal: new AbortController().signal })));
"""


def test_enter_twice_offers_the_pin_of_the_note_pad_in_webkit(webkit_browser, site):
    person = Person(webkit_browser)
    webkit_browser.get(f"{site.address}/tests.html")
    webkit_browser.execute_script(NOTE_PAD)
    person.until("return document.querySelector('.note-pad-text') !== null;")
    pad = webkit_browser.find_element("css selector", ".note-pad-text")
    for line in ("tel 738291", "", "738291", "milk", PIN, ""):
        pad.send_keys(line, Keys.ENTER)
    person.until("return window.offered.length > 0;")
    assert webkit_browser.execute_script("return window.offered;") == [PIN]


# The picture that a file gets, or the code and the sentence with which it is refused.
POSTER = """
const [text, container] = arguments;
window.poster = null;
Promise.all([import("/features/moments/recording-poster.js"), import("/crypto/bytes.js")])
    .then(([{ posterOf }, { unbase64 }]) =>
        posterOf(new Blob([unbase64(text)]), container, new AbortController().signal))
    .then(({ kind, duration, picture }) => { window.poster = [kind, Math.round(duration), picture.type]; },
        (error) => { window.poster = [error.code, error.message]; });
"""


@pytest.mark.parametrize("kind", ["sound", "video", "damaged video"])
def test_a_recording_has_a_picture_or_is_refused_with_a_sentence_in_webkit(webkit_browser, site, kind):
    """Which files it plays depends on the decoders of this computer."""
    webkit_browser.get(f"{site.address}/tests.html")
    file, container = (sound(3), "audio/wav") if kind == "sound" else (video(), "video/webm")
    if kind == "damaged video":
        file = file[:60] + bytes(5000)
    webkit_browser.execute_script(POSTER, base64.b64encode(file).decode(), container)
    eventually(lambda: webkit_browser.execute_script("return window.poster;"), "it has a picture or is refused")
    found = webkit_browser.execute_script("return window.poster;")
    print(kind, found)
    refusal = ["notPicture", "This browser can’t play this video or recording"]
    accepted = {"sound": ["voice", 3, "image/jpeg"], "video": ["video", 4, "image/jpeg"]}
    assert found == accepted.get(kind) or [found[0], found[1][: len(refusal[1])]] == refusal, found


def test_an_address_that_is_not_secure_is_refused_in_webkit(webkit_browser, site):
    person = Person(webkit_browser)
    # Reaches this computer, and WebKit does not trust it.
    webkit_browser.get(f"http://[::ffff:127.0.0.1]:{site.port}/#pair=unused")
    person.until("return isSecureContext === false;")
    person.sees("This address is not secure")
    person.sees("On the computer, run “applocker pair”")
    assert webkit_browser.execute_script("return document.querySelectorAll('form, input').length;") == 0
    person.picture("refused-address")


def becomes_narrow(browser):
    browser.set_window_size(500, 900)
    # The page has its new size with a later frame.
    eventually(lambda: browser.execute_script("return innerWidth;") <= 500, "the window is narrow")


def test_the_first_run_is_right_at_each_text_size_in_webkit(webkit_browser, computer):
    """The pages of test_every_screen.py before unlocking, and the first ones after it."""
    browser = webkit_browser
    person = Person(browser)
    becomes_narrow(browser)
    found = []

    def look(name):
        for percent in (100, 200, 310):
            browser.execute_script(ROOT_SIZE, percent)
            findings = browser.execute_script(f"return ({PROBE})();")
            found.extend(f"{name} at {percent} %: {finding}" for finding in findings)
        browser.execute_script(ROOT_SIZE, 100)

    browser.get(f"http://127.0.0.1:{computer.port}/")
    person.sees("Welcome to AppLocker")
    look("welcome")
    browser.get(computer.pair())
    person.sees("Pair this device")
    look("pairing")
    person.presses("Pair this device")
    person.sees("Choose a PIN")
    look("first PIN")
    person.types_pin()
    person.sees("Repeat the PIN")
    person.types_pin()
    person.sees("Lock the vault")
    for address, text in {"home": "Actions", "alerts": "Today", "apps": "diary", "settings": "Auto-lock"}.items():
        browser.execute_script(f"location.hash = '#/{address}';")
        person.sees(text)
        look(address)
    assert not found, "\n".join(found)


def test_a_phone_founds_a_household_and_its_sheet_opens_it_in_webkit(webkit_browser, phone_hub):
    hub = phone_hub()
    browser, person = webkit_browser, Person(webkit_browser)
    becomes_narrow(browser)
    found = []

    def look(name):
        for percent in (100, 200, 310):
            browser.execute_script(ROOT_SIZE, percent)
            findings = browser.execute_script(f"return ({PROBE})();")
            found.extend(f"{name} at {percent} %: {finding}" for finding in findings)
        browser.execute_script(ROOT_SIZE, 100)

    def sets_pin(one):
        one.sees("Choose a PIN")
        one.types_pin()
        one.sees("Repeat the PIN")
        one.types_pin()

    browser.get(f"http://127.0.0.1:{hub.port}/")
    person.sees("It needs nothing else")
    person.picture("welcome")
    person.until(CLICK_ROW, "Start Everline")
    person.sees("Name of this device")
    look("founding")
    person.presses("Continue")
    sets_pin(person)
    person.sees("Check the printed sheet")
    look("recovery sheet")
    person.picture("recovery-sheet")
    code = browser.execute_script(USE_SHEET)
    person.presses("Use this sheet")
    person.sees("Begin your story here")
    browser.execute_script("location.hash = '#/home';")
    person.sees("Write the first moment")
    look("home of phones")
    person.picture("home-of-phones")
    assert not found, "\n".join(found)

    # A new phone: under another name of the hub, nothing of the first one is stored.
    browser.get(f"http://localhost:{hub.port}/")
    person.presses("Use a recovery sheet")
    person.until(TYPE_CODE, code)
    person.presses("Open everything here")
    sets_pin(person)
    person.sees("This phone has everything again")
    person.picture("recovered")
