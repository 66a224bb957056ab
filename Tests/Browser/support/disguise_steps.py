"""What the tests of the disguise, and of the panic that shows the same calculator, have in common."""

import time

from phone import PIN

# Everything that a person, a task switcher or a list of tabs sees of a page.
SEEN = """() => [document.title, document.body.innerText, document.body.textContent,
    ...[...document.querySelectorAll("[href], [src], [content], [aria-label], [alt]")].flatMap((node) =>
        ["href", "src", "content", "aria-label", "alt"].map((name) => node.getAttribute(name) ?? ""))]
    .filter((text) => /app-?locker|favicon\\.svg|app\\.webmanifest|vault|everline/i.test(text) && !/\\.(js|css)$/.test(text))"""


def harmless(page):
    page.get_by_role("heading", name="Calculator", level=1).wait_for(state="attached")
    page.locator(".calculator").wait_for()
    assert page.evaluate(SEEN) == [], page.evaluate(SEEN)
    assert page.title() == "Calculator"


def disguised(phone):
    """The phone looks like a calculator from now on; it is open as before."""
    phone.page.evaluate("async () => (await import('/views/disguise.js')).chooseGuise('calculator')")


def lock(phone):
    """As another tab of this browser would; what is shown then is a calculator."""
    phone.page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
    harmless(phone.page)


def press(page, keys):
    """All in one task: two presses of = count within a second and a half, in which a slow machine may not get to two clicks."""
    page.evaluate("""(keys) => {
        const buttons = [...document.querySelectorAll(".calculator-key")];
        for (const key of keys) {
            const button = buttons.find((one) => one.textContent === key);
            const { x, y, width, height } = button.getBoundingClientRect();
            const touched = document.elementFromPoint(x + width / 2, y + height / 2).closest(".calculator-key");
            if (touched !== button) throw new Error(`${key} is not within reach`);
            touched.click();
        }
    }""", list(keys))


def shown(page):
    return page.locator(".calculator-number").inner_text()


def open_with(page, digits=PIN):
    press(page, digits + "==")
    page.locator(".tabs").wait_for()


def hold(page, node, seconds=0.9):
    """With the mouse, at times of its own: nobody waits so long, and on a slow machine it is no longer."""
    box = node.bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] - 8, "button": "left", "clickCount": 1}
    # Not detached: with any session of a page its authenticator goes.
    session, start = page.context.new_cdp_session(page), time.time()
    session.send("Input.dispatchMouseEvent", {"type": "mousePressed", "timestamp": start, **place})
    session.send("Input.dispatchMouseEvent", {"type": "mouseReleased", "timestamp": start + seconds, **place})


def escapes(page, at=(0, 0.1, 0.2)):
    """Pressed so many seconds from now, each; the browser answers when the page has handled it."""
    session, start = page.context.new_cdp_session(page), time.time()
    for seconds in at:
        for kind in ("rawKeyDown", "keyUp"):
            session.send("Input.dispatchKeyEvent", {
                "type": kind, "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27, "timestamp": start + seconds})


def asked_nothing(page):
    """What a touch of the calculator could lead to has happened by now: the passkey is asked for after the same questions to the
    database and the browser, which are answered in their order."""
    page.evaluate("""async () => {
        const [{ Companion }, { isAvailable }] = await Promise.all([import("/core/companion.js"), import("/core/passkey.js")]);
        const other = await Companion.open();
        try {
            await other.passkey();
            await isAvailable();
        } finally {
            other.close();
        }
    }""")
