"""The calculator that AppLocker looks like, as a person meets it."""

import contextlib
import datetime
import random
import re
from fractions import Fraction

import pytest

import pages
from disguise_steps import asked_nothing, disguised, escapes, harmless, hold, lock, open_with, press, shown
from phone import DESKTOP, PIN, Phone
from settings_steps import page_of
from waiting import eventually

pytestmark = pytest.mark.computer_is_off

# What a page is called, from its first moment on.
REMEMBER = """() => {
    window.worn = [];
    const look = () => worn.push(document.title, ...[...document.querySelectorAll("link[rel~=icon], link[rel=manifest], link[rel=apple-touch-icon]")].map((one) => one.href));
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
}"""
COUNT_QUESTIONS = """() => {
    window.questions = 0;
    const get = CredentialsContainer.prototype.get;
    CredentialsContainer.prototype.get = function (...given) {
        window.questions += 1;
        return get.apply(this, given);
    };
}"""


@pytest.fixture
def served():
    """The address of the companion's files, without a hub."""
    with pages.served() as address:
        yield address


def tries(phone):
    """Wrong PINs, as the hub counts them and as this device notes them, which is the last that it does about one."""
    return phone.page.evaluate("""async () => {
        const { Companion } = await import("/core/companion.js");
        const other = await Companion.open();
        try {
            return [(await other.pinState()).failures, (await other.device.store.fact("wrongPINs", [])).length];
        } finally {
            other.close();
        }
    }""")


@contextlib.contextmanager
def standing_still(page):
    """The page's time, so that two presses of = are within a second and a half on any machine."""
    now = page.evaluate("() => Date.now()")
    page.clock.pause_at(datetime.datetime.fromtimestamp(now / 1000 + 15))
    yield
    page.clock.resume()


def test_the_page_itself_names_nothing(new_context, computer):
    page = new_context().new_page()
    page.goto(f"http://127.0.0.1:{computer.port}/tests.html")
    text = page.evaluate("async () => (await (await fetch('/', { cache: 'no-store' })).text())")
    assert "<script" in text
    assert not re.search(r"app-?locker|<title|manifest|rel=\"icon|apple-touch-icon", text, re.I), text
    manifest = page.evaluate("""async () => {
        const answer = await fetch("/calculator.webmanifest");
        const { files } = await (await fetch("/assets.json")).json();
        return [answer.headers.get("Content-Type"), "calculator.webmanifest" in files, await answer.text()];
    }""")
    assert manifest[:2] == ["application/manifest+json", True], manifest
    assert "locker" not in manifest[2].lower() and "shortcuts" not in manifest[2]


def test_the_calculator_is_chosen_with_a_pin_of_digits(phone):
    page = page_of(phone, "disguise", "Disguise")
    assert page.get_by_label("AppLocker", exact=False).first.is_checked()
    phone.check()
    phone.picture("settings-disguise")
    page.get_by_label("A calculator that calculates").click()
    page.get_by_role("heading", name="Look like a calculator?").wait_for()
    phone.check()
    page.get_by_role("button", name="Use letters").click()
    page.locator("dialog").get_by_label("PIN", exact=True).fill("anna's long pin")
    page.keyboard.press("Enter")
    page.get_by_text("it needs a PIN of digits alone").wait_for()
    phone.picture("disguise-letters")
    page.get_by_role("button", name="Cancel").click()
    eventually(lambda: page.get_by_label("Its own name and icon").is_checked())
    page.get_by_label("A calculator that calculates").click()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin()
    page.get_by_text("It looks like a calculator now").wait_for()
    assert page.title() == "Calculator"
    # Notifications have its name alone: the worker, which shows them, reads it here.
    eventually(lambda: page.evaluate("""async () => {
        const { CompanionStore } = await import("/store/store.js");
        const store = await CompanionStore.open();
        try { return await store.fact("guise", ""); } finally { store.close(); }
    }""") == "calculator", "the worker knows")
    phone.go("home", "Home")
    assert page.title() == "Calculator"


def test_a_pin_with_letters_is_refused_while_it_is_one(phone):
    disguised(phone)
    page = page_of(phone, "gate", "PIN, Face ID and fingerprint")
    page.get_by_role("button", name="Change the PIN").click()
    phone.type_pin()
    page.get_by_role("heading", name="Choose the new PIN").wait_for()
    page.get_by_role("button", name="Use letters").click()
    page.get_by_label("PIN", exact=True).fill("anna's long pin")
    page.keyboard.press("Enter")
    page.get_by_text("it needs a PIN of digits alone").wait_for()


def test_locked_it_is_a_calculator_and_nothing_else(phone):
    disguised(phone)
    page = phone.page
    phone.go("settings", "Settings")
    page.get_by_role("button", name="Lock now").click()
    harmless(page)
    phone.check()
    press(page, "12×3.5+")
    phone.picture("calculator")
    phone.becomes("dark")
    phone.picture("calculator")
    phone.becomes("light")
    page.evaluate("() => window.dispatchEvent(new Event('blur'))")
    assert "calculator.svg" in page.evaluate("() => getComputedStyle(document.querySelector('.cover-icon')).backgroundImage")
    phone.picture("cover-calculator")
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")


def test_nothing_flashes_when_it_starts(phone):
    disguised(phone)
    page = phone.open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(f"({REMEMBER})()")
    page.goto(phone.address)
    harmless(page)
    worn = page.evaluate("() => worn")
    assert "Calculator" in worn and not [one for one in worn if re.search(r"locker|favicon\.svg|app\.web", one, re.I)], set(worn)
    assert not [one for one in asked if re.search(r"favicon|/icons/icon|touch-icon-180|app\.webmanifest", one) and "calculator" not in one], asked


def test_it_calculates(new_context, served):
    page = new_context(service_workers="block").new_page()
    page.goto(f"{served}/tests.html")
    # A browser that lost what it kept shows the calculator too, and needs no household for it.
    page.evaluate("() => { localStorage.setItem('applocker-disguise', 'calculator'); localStorage.setItem('applocker-device/applocker', '1'); }")
    page.goto(served)
    harmless(page)
    for keys, wanted in (("C12×3.5+8=", "50"), ("C0.1+0.2=", "0.3"), ("C200+10%=", "220"), ("C1÷3=", "0.333333333333"),
                         ("×3=", "1"), ("C5±=", "−5"), ("C1÷0=", "Can’t divide by 0"), ("C999999×999999=", "999,998,000,001"), ("C", "0")):
        press(page, keys)
        assert shown(page) == wanted, (keys, shown(page))
    page.keyboard.type("c7*6-2")
    page.keyboard.press("Enter")
    assert shown(page) == "40", shown(page)
    page.keyboard.press("Backspace")
    page.keyboard.type("9/4=")
    assert shown(page) == "2.25", shown(page)


def test_it_calculates_as_pythons_fractions_do(new_context, served):
    page = new_context().new_page()
    page.goto(f"{served}/tests.html")
    chance = random.Random(7)
    for _ in range(6):
        sums = []
        for _ in range(80):
            numbers = [f"{chance.randint(0, 9999)}.{chance.randint(0, 999)}" if chance.random() < 0.5 else str(chance.randint(1, 99999)) for _ in range(chance.randint(1, 7))]
            text = numbers[0] + "".join(chance.choice("+-*/") + number for number in numbers[1:])
            try:
                value = eval(re.sub(r"[\d.]+", lambda number: f"Fraction('{number[0]}')", text))  # noqa: S307: made here
            except ZeroDivisionError:
                continue
            sums.append([text, str(value.numerator), str(value.denominator)])
        wrong, written = page.evaluate("""async (sums) => {
            const { Calculator } = await import("/core/calculator.js");
            const { fraction, written } = await import("/core/calculation.js");
            const results = sums.map(([, numerator, denominator]) => written(fraction(BigInt(numerator), BigInt(denominator))));
            const wrong = sums.filter(([text], index) => {
                const calculator = new Calculator();
                for (const key of text.replaceAll("*", "×").replaceAll("/", "÷").replaceAll("-", "−") + "=") calculator.press(key, 0);
                return calculator.display.replaceAll(",", "").replace("−", "-") !== results[index];
            });
            return [wrong, results];
        }""", sums)
        assert len(sums) > 40 and wrong == [], wrong
        # And it is written as Python rounds it, to twelve digits.
        for (text, numerator, denominator), found in zip(sums, written, strict=True):
            value = Fraction(int(numerator), int(denominator))
            assert abs(Fraction(found) - value) <= abs(value) * Fraction(1, 10**11), (text, found)


@pytest.mark.clock
def test_ordinary_use_tries_no_pin(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    sent = []
    page.on("request", lambda request: sent.append(request.method) if request.url.endswith("/v1/pin-share/attempt") else None)
    press(page, "C738291=")
    page.clock.fast_forward(1700)
    press(page, "=")
    press(page, "C700000+38291==")
    press(page, "C7382.91==C738291+0==C73829==")
    # What no PIN can be.
    press(page, "C123456==C111111==C20101999==")
    page.clock.fast_forward(1500)
    assert tries(phone) == [0, 0]
    harmless(page)
    # While one number is tried another is not: nothing was on its way, and this is the first.
    press(page, "C")
    open_with(page)
    assert len(sent) == 1, sent


@pytest.mark.clock
def test_a_wrong_pin_is_counted_once_and_says_nothing(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    press(page, "C918273==")
    eventually(lambda: tries(phone) == [1, 1])
    # Whatever would be said or tried later is due.
    page.clock.fast_forward(10_000)
    assert shown(page) == "918,273"
    harmless(page)
    assert tries(phone) == [1, 1]
    phone.check()


@pytest.mark.clock
def test_the_pin_opens_by_touch_and_by_keys(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    with standing_still(page):
        for key in PIN + "==":
            page.locator(".calculator-key", has_text=re.compile(f"^{key}$")).click()
    page.locator(".tabs").wait_for()
    assert page.title() == "Calculator"
    lock(phone)
    with standing_still(page):
        page.keyboard.type(PIN)
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()
    # Nothing of what was typed is in the page.
    assert PIN not in page.content() and "739,184" not in page.content()


def test_the_pin_opens_by_holding(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    press(page, f"C{PIN}")
    hold(page, page.locator(".calculator-equals"))
    page.locator(".tabs").wait_for()
    assert PIN not in page.content() and "739,184" not in page.content()


def test_without_the_hub_it_calculates_on(phone, computer):
    disguised(phone)
    lock(phone)
    page = phone.page
    computer.stop_hub()
    with page.expect_event("requestfailed", lambda request: "pin-share" in request.url):
        press(page, PIN + "==")
    # Fails after it.
    page.evaluate("() => fetch('/v1/hub').catch(() => {})")
    assert shown(page) == "739,184"
    harmless(page)
    press(page, "+1=")
    assert shown(page) == "739,185"
    computer.start_hub()
    phone.online_again()
    press(page, "C")
    open_with(page)


def test_another_tab_takes_it_off_again(phone):
    disguised(phone)
    other = phone.open_page()
    other.goto(phone.address)
    harmless(other)
    page = page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("It looks like AppLocker now").wait_for()
    assert page.title() == "AppLocker", page.title()
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert other.title() == "AppLocker"
    phone.lock()
    phone.unlock()


def test_a_finger_opens_where_the_display_is_held(new_context, household, computer):
    # No passkey is for an address without a name.
    phone = Phone(new_context, computer, host="localhost").begin(household.paired)
    page = phone.page
    phone.has_authenticator()
    page_of(phone, "gate", "PIN, Face ID and fingerprint")
    page.get_by_role("button", name="Add Face ID or fingerprint").click()
    phone.type_pin()
    page.get_by_text("Face ID or fingerprint opens AppLocker now").wait_for()
    page_of(phone, "disguise", "Disguise")
    page.get_by_label("A calculator that calculates").click()
    phone.type_pin()
    page.get_by_text("It looks like a calculator now").wait_for()
    page.add_init_script(f"({COUNT_QUESTIONS})()")
    page.reload()
    harmless(page)
    # It does not ask by itself, nor at a touch.
    page.locator(".calculator-display").click()
    asked_nothing(page)
    assert page.evaluate("() => questions") == 0
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.locator(".tabs").wait_for()
    assert page.evaluate("() => questions") == 1
    lock(phone)
    page.keyboard.press("Shift+Enter")
    page.locator(".tabs").wait_for()
    phone.quiet()


def test_an_icon_of_a_calculator_starts_as_one(new_context, computer):
    phone = Phone(new_context, computer, name="From the start")
    page = phone.page
    page.goto(f"{phone.address}/?as=calculator")
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    assert page.title() == "Calculator"
    assert page.evaluate("() => document.querySelector('link[rel=manifest]').getAttribute('href')") == "/calculator.webmanifest"
    page.goto("about:blank")
    phone.pair()
    assert page.title() == "Calculator"
    page.reload()
    harmless(page)
    open_with(page)
    # Removed, it has nothing to hide.
    page.evaluate("""async () => (await import("/views/disguise.js")).forgetGuise()""")
    # A link of somebody else's changes nothing of a paired device.
    page.goto(f"{phone.address}/?as=calculator")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.quiet()


def test_what_was_lost_is_said_to_its_owner_alone(phone):
    disguised(phone)
    page = phone.page
    page.goto(f"{phone.address}/assets.json")
    page.evaluate("() => new Promise((resolve, reject) => { const asked = indexedDB.deleteDatabase('applocker'); asked.onsuccess = resolve; asked.onerror = reject; })")
    page.goto(phone.address)
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.get_by_role("heading", name="This browser lost AppLocker’s data").wait_for()


def test_the_desktop_has_it_too(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    desk.go("settings/disguise")
    desk.page.get_by_role("heading", name="Disguise", level=2).wait_for()
    desk.check()
    desk.picture("settings-disguise")
    desk.go("settings/panic")
    desk.page.get_by_role("heading", name="Panic", level=2).wait_for()
    desk.check()
    desk.picture("settings-panic")
    escapes(desk.page)
    harmless(desk.page)
    desk.check()
    desk.picture("calculator")
    desk.quiet()
