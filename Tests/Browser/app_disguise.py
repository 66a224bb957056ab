"""The calculator that AppLocker looks like, and what makes it look so at once, as a person meets them."""

import random
import re
from fractions import Fraction

from app import DESKTOP, PIN, eventually
from app_settings import page_of

HOLD = 900
# Everything that a person, a task switcher or a list of tabs sees of a page.
SEEN = """() => [document.title, document.body.innerText, document.body.textContent,
    ...[...document.querySelectorAll("[href], [src], [content], [aria-label], [alt]")].flatMap((node) =>
        ["href", "src", "content", "aria-label", "alt"].map((name) => node.getAttribute(name) ?? ""))]
    .filter((text) => /app-?locker|favicon\\.svg|app\\.webmanifest|vault|everline/i.test(text) && !/\\.(js|css)$/.test(text))"""
# What a page is called, from its first moment on.
REMEMBER = """() => {
    window.worn = [];
    const look = () => worn.push(document.title, ...[...document.querySelectorAll("link[rel~=icon], link[rel=manifest], link[rel=apple-touch-icon]")].map((one) => one.href));
    new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
}"""


def harmless(page):
    page.get_by_role("heading", name="Calculator", level=1).wait_for(state="attached")
    page.locator(".calculator").wait_for()
    assert page.evaluate(SEEN) == [], page.evaluate(SEEN)
    assert page.title() == "Calculator"


def press(page, keys):
    for key in keys:
        page.locator(".calculator-key", has_text=re.compile(f"^{re.escape(key)}$")).click()


def shown(page):
    return page.locator(".calculator-number").inner_text()


def hold(page, node, milliseconds=HOLD):
    box = node.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 8)
    page.mouse.down()
    page.wait_for_timeout(milliseconds)
    page.mouse.up()


def failures(phone):
    return phone.page.evaluate("""async () => {
        const { Companion } = await import("/core/companion.js");
        const other = await Companion.open();
        try { return (await other.pinState()).failures; } finally { other.close(); }
    }""")


def open_with(page, digits=PIN):
    press(page, digits + "==")
    page.locator(".tabs").wait_for()


def lock(phone):
    phone.go("settings", "Settings")
    phone.page.get_by_role("button", name="Lock now").click()


def test_the_page_itself_names_nothing(phone, _):
    text = phone.page.evaluate("async () => (await (await fetch('/', { cache: 'no-store' })).text())")
    assert not re.search(r"app-?locker|<title|manifest|rel=\"icon|apple-touch-icon", text, re.I), text
    manifest = phone.page.evaluate("""async () => {
        const answer = await fetch("/calculator.webmanifest");
        const { files } = await (await fetch("/assets.json")).json();
        return [answer.headers.get("Content-Type"), "calculator.webmanifest" in files, await answer.text()];
    }""")
    assert manifest[:2] == ["application/manifest+json", True], manifest
    assert "locker" not in manifest[2].lower() and "shortcuts" not in manifest[2]


def test_the_calculator_is_chosen_with_a_pin_of_digits(phone, _):
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
    phone.go("home", "Home")
    assert page.title() == "Calculator"


def test_a_pin_with_letters_is_refused_while_it_is_one(phone, _):
    page = page_of(phone, "gate", "PIN, Face ID and fingerprint")
    page.get_by_role("button", name="Change the PIN").click()
    phone.type_pin()
    page.get_by_role("heading", name="Choose the new PIN").wait_for()
    page.get_by_role("button", name="Use letters").click()
    page.get_by_label("PIN", exact=True).fill("anna's long pin")
    page.keyboard.press("Enter")
    page.get_by_text("it needs a PIN of digits alone").wait_for()


def test_locked_it_is_a_calculator_and_nothing_else(phone, _):
    page = phone.page
    lock(phone)
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


def test_nothing_flashes_when_it_starts(phone, _):
    page = phone.open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(f"({REMEMBER})()")
    page.goto(phone.address)
    harmless(page)
    worn = page.evaluate("() => worn")
    assert "Calculator" in worn and not [one for one in worn if re.search(r"locker|favicon\.svg|app\.web", one, re.I)], set(worn)
    assert not [one for one in asked if re.search(r"favicon|/icons/icon|touch-icon-180|app\.webmanifest", one) and "calculator" not in one], asked
    page.close()


def test_it_calculates(phone, _):
    page = phone.page
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


def test_it_calculates_as_pythons_fractions_do(phone, _):
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
        wrong = phone.page.evaluate("""async (sums) => {
            const { Calculator } = await import("/core/calculator.js");
            const { fraction, written } = await import("/core/calculation.js");
            return sums.filter(([text, numerator, denominator]) => {
                const calculator = new Calculator();
                for (const key of text.replaceAll("*", "×").replaceAll("/", "÷").replaceAll("-", "−") + "=") calculator.press(key, 0);
                return calculator.display.replaceAll(",", "").replace("−", "-") !== written(fraction(BigInt(numerator), BigInt(denominator)));
            });
        }""", sums)
        assert len(sums) > 40 and wrong == [], wrong
        # And it is written as Python rounds it, to twelve digits.
        for text, numerator, denominator in sums[:30]:
            value = Fraction(int(numerator), int(denominator))
            found = phone.page.evaluate("""async ([numerator, denominator]) => {
                const { fraction, written } = await import("/core/calculation.js");
                return written(fraction(BigInt(numerator), BigInt(denominator)));
            }""", [numerator, denominator])
            assert abs(Fraction(found) - value) <= abs(value) * Fraction(1, 10**11), (text, found)


def test_ordinary_use_tries_no_pin(phone, _):
    page = phone.page
    before = failures(phone)
    press(page, "C738291=")
    page.wait_for_timeout(1700)
    press(page, "=")
    press(page, "C700000+38291==")
    press(page, "C7382.91==C738291+0==C73829==")
    # What no PIN can be.
    press(page, "C123456==C111111==C20101999==")
    page.wait_for_timeout(1500)
    assert failures(phone) == before, (before, failures(phone))
    harmless(page)


def test_a_wrong_pin_is_counted_once_and_says_nothing(phone, _):
    page = phone.page
    before = failures(phone)
    press(page, "C918273==")
    eventually(lambda: failures(phone) == before + 1)
    page.wait_for_timeout(800)
    assert shown(page) == "918,273"
    harmless(page)
    assert failures(phone) == before + 1
    phone.check()


def test_the_pin_opens_by_touch_by_holding_and_by_keys(phone, _):
    page = phone.page
    press(page, "C")
    open_with(page)
    assert page.title() == "Calculator"
    lock(phone)
    harmless(page)
    press(page, f"C{PIN}")
    hold(page, page.locator(".calculator-equals"))
    page.locator(".tabs").wait_for()
    lock(phone)
    harmless(page)
    page.keyboard.type(PIN)
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()
    # Nothing of what was typed is in the page.
    assert PIN not in page.content() and "739,184" not in page.content()


def test_without_the_hub_it_calculates_on(phone, computer):
    page = phone.page
    lock(phone)
    harmless(page)
    computer.asked(["stop-hub"])
    press(page, PIN + "==")
    page.wait_for_timeout(1000)
    assert shown(page) == "739,184"
    harmless(page)
    press(page, "+1=")
    assert shown(page) == "739,185"
    computer.asked(["start-hub"])
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    press(page, "C")
    open_with(page)


def test_notifications_have_its_name_alone(phone, _):
    eventually(lambda: phone.page.evaluate("""async () => {
        const { CompanionStore } = await import("/store/store.js");
        const store = await CompanionStore.open();
        try { return await store.fact("guise", ""); } finally { store.close(); }
    }""") == "calculator", "the worker knows")


def test_another_tab_takes_it_off_again(phone, _):
    other = phone.open_page()
    other.goto(phone.address)
    harmless(other)
    page = page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("It looks like AppLocker now").wait_for()
    assert page.title() == "AppLocker", page.title()
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert other.title() == "AppLocker"
    other.close()
    lock(phone)
    phone.unlock()


def test_a_finger_opens_where_the_display_is_held(first, computer):
    phone = first.another(name="With a finger")
    phone.address = f"http://localhost:{computer.port}"
    phone.pair()
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
    page.reload()
    harmless(page)
    # It does not ask by itself, nor at a touch.
    page.locator(".calculator-display").click()
    page.wait_for_timeout(600)
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.locator(".tabs").wait_for()
    lock(phone)
    harmless(page)
    page.keyboard.press("Shift+Enter")
    page.locator(".tabs").wait_for()
    phone.quiet()
    phone.close()


def test_an_icon_of_a_calculator_starts_as_one(first, computer):
    phone = first.another(name="From the start")
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
    phone.close()


def test_what_was_lost_is_said_to_its_owner_alone(first, computer):
    phone = first.another(name="Lost")
    phone.pair()
    page = phone.page
    page_of(phone, "disguise", "Disguise")
    page.get_by_label("A calculator that calculates").click()
    phone.type_pin()
    page.get_by_text("It looks like a calculator now").wait_for()
    page.goto(f"{phone.address}/assets.json")
    page.evaluate("() => new Promise((resolve, reject) => { const asked = indexedDB.deleteDatabase('applocker'); asked.onsuccess = resolve; asked.onerror = reject; })")
    page.goto(phone.address)
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.get_by_role("heading", name="This browser lost AppLocker’s data").wait_for()
    phone.close()


def test_the_desktop_has_it_too(first, computer):
    desk = first.another(DESKTOP, name="Desk")
    desk.pair()
    desk.go("settings/disguise")
    desk.page.get_by_role("heading", name="Disguise", level=2).wait_for()
    desk.check()
    desk.picture("settings-disguise")
    desk.go("settings/panic")
    desk.page.get_by_role("heading", name="Panic", level=2).wait_for()
    desk.check()
    desk.picture("settings-panic")
    for _ in range(3):
        desk.page.keyboard.press("Escape")
    harmless(desk.page)
    desk.check()
    desk.picture("calculator")
    desk.quiet()
    desk.close()
