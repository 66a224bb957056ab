"""Steps of the tests of the disguise, and of the panic lock that shows the same calculator."""

import time

from phone import PIN

# Everything of a page that is visible to a person, a task switcher or a list of tabs.
SEEN = """() => [document.title, document.body.innerText, document.body.textContent,
    ...[...document.querySelectorAll("[href], [src], [content], [aria-label], [alt]")].flatMap((node) =>
        ["href", "src", "content", "aria-label", "alt"].map((name) => node.getAttribute(name) ?? ""))]
    .filter((text) => /app-?locker|favicon\\.svg|app\\.webmanifest|vault|everline/i.test(text))
    .filter((text) => !/\\.(js|css)$/.test(text))"""


def harmless(page):
    page.get_by_role("heading", name="Calculator", level=1).wait_for(state="attached")
    page.locator(".calculator").wait_for()
    assert page.evaluate(SEEN) == [], page.evaluate(SEEN)
    assert page.title() == "Calculator"


def disguised(phone):
    """Disguises the app as a calculator; it stays unlocked."""
    phone.page.evaluate("async () => (await import('/ui/app-identity.js')).chooseIdentity('calculator')")


def lock(phone):
    """Locks the app as another tab of this browser would; it then shows a calculator."""
    phone.page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
    harmless(phone.page)


def press(page, keys):
    """Presses all keys in one task: two presses of = must be within a second and a half, which two clicks on a slow
    machine may not be."""
    page.evaluate(
        """(keys) => {
        const buttons = [...document.querySelectorAll(".calculator-key")];
        for (const key of keys) {
            const button = buttons.find((one) => one.textContent === key);
            const { x, y, width, height } = button.getBoundingClientRect();
            const touched = document.elementFromPoint(x + width / 2, y + height / 2).closest(".calculator-key");
            if (touched !== button) throw new Error(`${key} is not within reach`);
            touched.click();
        }
    }""",
        list(keys),
    )


def shown(page):
    return page.locator(".calculator-number").inner_text()


def open_with(page, digits=PIN):
    press(page, digits + "==")
    page.locator(".tabs").wait_for()


def hold(page, node, seconds=0.9):
    """Holds the mouse button by timestamps of the events: the test doesn't wait, and a slow machine doesn't hold
    longer."""
    box = node.bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] - 8, "button": "left", "clickCount": 1}
    # The session stays attached: detaching any session of a page removes its authenticator.
    session, start = page.context.new_cdp_session(page), time.time()
    session.send("Input.dispatchMouseEvent", {"type": "mousePressed", "timestamp": start, **place})
    session.send("Input.dispatchMouseEvent", {"type": "mouseReleased", "timestamp": start + seconds, **place})


def escapes(page, at=(0, 0.1, 0.2)):
    """Presses Escape at these times, in seconds from now; returns when the page has handled the events."""
    session, start = page.context.new_cdp_session(page), time.time()
    for seconds in at:
        for kind in ("rawKeyDown", "keyUp"):
            session.send(
                "Input.dispatchKeyEvent",
                {
                    "type": kind,
                    "key": "Escape",
                    "code": "Escape",
                    "windowsVirtualKeyCode": 27,
                    "timestamp": start + seconds,
                },
            )


def wait_until_handled(page):
    """Waits until the page has handled earlier touches: a passkey would be requested after the same queries to the
    database and the browser, which complete in order."""
    page.evaluate("""async () => {
        const { Companion } = await import("/session/companion.js");
        const { isAvailable } = await import("/household/passkey.js");
        const other = await Companion.open();
        try {
            await other.passkey();
            await isAvailable();
        } finally {
            other.close();
        }
    }""")
