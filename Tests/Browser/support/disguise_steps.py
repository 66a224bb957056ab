"""Steps of the tests of the disguises, and of the panic lock that shows the same calculator."""

import time

from phone import PIN, Phone
from settings_steps import page_of

# Everything of a page that is visible to a person, a task switcher or a list of tabs.
SEEN = """() => [document.title, document.body.innerText, document.body.textContent,
    ...[...document.querySelectorAll("[href], [src], [content], [aria-label], [alt]")].flatMap((node) =>
        ["href", "src", "content", "aria-label", "alt"].map((name) => node.getAttribute(name) ?? ""))]
    .filter((text) => /app-?locker|favicon\\.svg|app\\.webmanifest|vault|everline/i.test(text))
    .filter((text) => !/\\.(js|css)$/.test(text))"""

# Remembers the page's titles and icons from its start.
REMEMBER = """() => {
    window.seen = [];
    const links = "link[rel~=icon], link[rel=manifest], link[rel=apple-touch-icon]";
    const look = () => seen.push(document.title, ...[...document.querySelectorAll(links)].map((one) => one.href));
    const everything = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(look).observe(document, everything);
    look();
}"""
COUNT_PASSKEY_REQUESTS = """() => {
    window.passkeyRequests = 0;
    const get = CredentialsContainer.prototype.get;
    CredentialsContainer.prototype.get = function (...args) {
        window.passkeyRequests += 1;
        return get.apply(this, args);
    };
}"""


def harmless(page, name="Calculator"):
    page.get_by_role("heading", name=name, level=1).wait_for(state="attached")
    page.locator({"Calculator": ".calculator", "Notes": ".note-pad"}[name]).wait_for()
    assert page.evaluate(SEEN) == [], page.evaluate(SEEN)
    assert page.title() == name


def disguised(phone, name="Calculator"):
    """Disguises the app; it stays unlocked."""
    phone.page.evaluate("async (name) => (await import('/ui/app-identity.js')).chooseIdentity(name)", name.lower())


def phone_with_passkey(new_context, household, computer):
    """A paired and unlocked phone that can also be unlocked with a passkey."""
    # A passkey requires a host name.
    phone = Phone(new_context, computer, host="localhost").begin(household.paired)
    phone.has_authenticator()
    page = page_of(phone, "unlock", "PIN, Face ID and fingerprint")
    page.get_by_role("button", name="Add Face ID or fingerprint").click()
    phone.type_pin()
    page.get_by_text("Face ID or fingerprint added").wait_for()
    return phone


def lock(phone, name="Calculator"):
    """Locks the app as another tab of this browser would; it then shows its disguise."""
    phone.page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
    harmless(phone.page, name)


def tries(phone):
    """The numbers of wrong PINs counted by the hub and by this device, which counts last."""
    return phone.page.evaluate("""async () => {
        const { Companion } = await import("/session/companion.js");
        const other = await Companion.open();
        try {
            return [(await other.pinState()).failures, (await other.device.store.fact("wrongPINs", [])).length];
        } finally {
            other.close();
        }
    }""")


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
