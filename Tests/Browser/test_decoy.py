"""A decoy PIN is set and used through the pages; no screen differs from the real PIN's."""

import datetime

import pytest

from pending_work import COUNT_WORK
from phone import DESKTOP, PIN, Phone
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off

DECOY = "904417"
TABS = ["home", "home/checks", "alerts", "apps", "notes", "photos", "moments"]
# Each vault has a log of its own; only its presence is compared.
OWN = {"audit"}


def settings_pages(phone):
    phone.go("settings", "Settings")
    phone.page.locator(".settings-link").first.wait_for()
    return phone.page.evaluate(
        "() => [...document.querySelectorAll('.settings-link')].map((link) => link.hash.slice(2))"
    )


def seen(phone, address):
    """Elements, classes, states and text of a screen, except the sequence number, which grows with every record."""
    page = phone.page
    before = page.locator("main.screen > .screen-head").element_handle()
    phone.go(address)
    # Each screen has a new header.
    page.wait_for_function(
        "(before) => !before.isConnected && document.querySelector('main.screen > .screen-head')", arg=before
    )
    assert page.evaluate("() => location.hash") == f"#/{address}"
    page.evaluate("() => settled()")
    return page.evaluate("""() => {
        const names = ["class", "hidden", "disabled", "aria-current", "aria-checked", "type", "role"];
        const described = (node) => {
            if (node.nodeType === Node.TEXT_NODE) return node.textContent;
            if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".advanced .numbers")) return "";
            const attributes = names.map((name) => node.getAttribute(name) ?? "-").join("|");
            const children = [...node.childNodes].map(described).join("");
            return `<${node.tagName} ${attributes}${node.checked ? "*" : ""}>${children}`;
        };
        return described(document.querySelector("#app"));
    }""")


def everything(phone):
    """Each screen, starting with the tabs. The settings' pages are listed before, so that no screen is opened while it
    is already shown."""
    pages = settings_pages(phone)
    screens = {address: seen(phone, address) for address in TABS + ["settings"] + pages}
    return {address: (bool(found) if address.split("/")[-1] in OWN else found) for address, found in screens.items()}


def matches(found, wanted):
    assert list(found) == list(wanted), f"{list(found)} instead of {list(wanted)}"
    for address, screen in wanted.items():
        if found[address] != screen:
            pairs = zip(str(found[address]), str(screen), strict=False)
            at = next((index for index, (one, two) in enumerate(pairs) if one != two), 0)
            here = slice(max(0, at - 150), at + 150)
            raise AssertionError(f"{address}: …{str(found[address])[here]}… instead of …{str(screen)[here]}…")


def with_decoy(phone, notes=None):
    """Saves notes by title; the value is the PIN of the vault that each is in."""
    phone.inside("await companion.decoy.set(arg);", DECOY)
    for title, pin in (notes or {}).items():
        phone.inside("await companion.notes.save(null, { title: arg, body: 'milk' });", title, pin=pin)


def test_no_screen_distinguishes_a_decoy_session(phone):
    page = phone.page
    page.add_init_script(f"({COUNT_WORK})()")
    page.reload()
    # Relative times are the same in both runs.
    page.clock.set_fixed_time(datetime.datetime.now())
    phone.unlock()
    before = everything(phone)
    phone.go("settings/decoy", "Decoy PIN")
    phone.check()
    phone.picture("decoy")
    # Its timeline is compared with one that is empty too.
    page.get_by_role("switch", name="Start with sample moments").uncheck()
    page.get_by_role("button", name="Set a decoy PIN").click()
    page.get_by_role("heading", name="Enter your current PIN").wait_for()
    phone.type_pin()
    for heading in ("Choose the decoy PIN", "Repeat the decoy PIN"):
        page.get_by_role("heading", name=heading).wait_for()
        phone.type_pin(DECOY)
    page.get_by_text("The decoy PIN is set").wait_for()
    page.get_by_text("Visible only with your own PIN").wait_for()
    phone.check()
    phone.picture("decoy-set")
    phone.lock()
    phone.unlock(DECOY)
    matches(everything(phone), before)


def test_a_decoy_vault_starts_with_sample_moments_that_are_edited(phone):
    page = phone.page
    phone.go("settings/decoy", "Decoy PIN")
    page.get_by_role("button", name="Set a decoy PIN").click()
    for pin in (None, DECOY, DECOY):
        phone.type_pin(*([pin] if pin else []))
    page.get_by_text("The decoy PIN is set").wait_for()
    count = "return (await companion.moments.list()).moments.length;"
    assert phone.inside(count) == 0, "they are in the decoy's vault alone"
    assert phone.inside(count, pin=DECOY) == 6
    phone.lock()
    phone.unlock(DECOY)
    phone.go("moments")
    page.get_by_role("heading", name="Open your moments").wait_for()
    phone.type_pin(DECOY)
    page.locator(".moment-card").first.click()
    phone.picture("decoy-sample")
    page.get_by_role("button", name="Edit this moment").click()
    page.get_by_label("Words").fill("Ours")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Ours").wait_for()


def test_mistakes_and_weak_pins_are_reported(phone):
    with_decoy(phone)
    phone.lock()
    phone.unlock(DECOY)
    page = phone.page
    phone.go("settings/decoy", "Decoy PIN")
    page.get_by_role("button", name="Set a decoy PIN").click()
    page.get_by_role("heading", name="Enter your current PIN").wait_for()
    phone.check()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin(DECOY)
    page.get_by_role("heading", name="Choose the decoy PIN").wait_for()
    phone.type_pin("123456")
    page.get_by_text("easy to guess").wait_for()
    phone.type_pin(DECOY)
    page.get_by_role("heading", name="Repeat the decoy PIN").wait_for()
    phone.type_pin(DECOY)
    page.get_by_text("This is your current PIN").wait_for()


def test_each_vault_is_read_and_written_separately(phone):
    with_decoy(phone, {"Really mine": PIN, "Shopping": DECOY})
    page = phone.page
    for pin, own, other in ((DECOY, "Shopping", "Really mine"), (PIN, "Really mine", "Shopping")):
        phone.lock()
        phone.unlock(pin)
        phone.go("notes")
        # The app requests the PIN without a click.
        page.get_by_role("heading", name="Open your notes").wait_for()
        phone.type_pin(pin)
        page.get_by_text(own).first.wait_for()
        assert page.get_by_text(other).count() == 0
        assert page.get_by_text("can’t be opened").count() == 0


def test_shared_vaults_are_shown_only_with_the_real_pin(phone):
    with_decoy(phone)
    phone.inside("await companion.vaults.create('Ours');")
    page = phone.page
    for pin, here, absent in ((PIN, "Ours", "No other vault yet"), (DECOY, "No other vault yet", "Ours")):
        phone.lock()
        phone.unlock(pin)
        phone.go("settings/vaults", "Vaults")
        page.get_by_text(here, exact=True).wait_for()
        assert page.get_by_text(absent, exact=True).count() == 0
        count = phone.inside("return (await companion.vaults.list()).length;", pin=pin)
        assert count == (1 if pin == PIN else 0), count


def test_an_address_of_the_other_vault_reveals_nothing(phone):
    with_decoy(phone, {"Really mine": PIN})
    page = phone.page
    note = phone.inside("return (await companion.notes.list()).notes[0].id;")
    phone.go(f"notes/{note}")
    page.get_by_role("heading", name="Open your notes").wait_for()
    page.reload()
    phone.unlock(DECOY)
    eventually_equals(lambda: page.evaluate("() => location.hash"), "#/notes", "the list of notes is shown")
    page.get_by_role("heading", name="Open your notes").wait_for()
    assert page.get_by_text("can’t be shown").count() == 0
    phone.lock()
    phone.go(f"notes/{note}")
    phone.unlock(PIN)
    page.get_by_role("heading", name="Open your notes").wait_for()
    phone.type_pin()
    # The real vault's note is unchanged.
    page.get_by_label("Title").wait_for()
    assert page.get_by_label("Title").input_value() == "Really mine"
    assert page.evaluate("() => location.hash") == f"#/notes/{note}"


def test_the_hub_counts_attempts_of_both_pins_alike(phone):
    """With a real hub: each wrong PIN counts once, each correct one resets the count, and none is tried twice."""
    with_decoy(phone)
    counts = phone.page.evaluate(
        """async ([real, decoy]) => {
        const { Companion } = await import("/session/companion.js");
        const companion = await Companion.open();
        const counts = [];
        for (const pin of ["318246", real, "318246", decoy, "318246", "318247", decoy]) {
            await companion.unlockWithPIN(pin).catch(() => {});
            counts.push((await companion.pinState()).failures);
            companion.lockTab();
        }
        companion.close();
        return counts;
    }""",
        [PIN, DECOY],
    )
    assert counts == [1, 0, 1, 0, 1, 2, 0], counts


def test_removing_the_decoy_pin_deletes_its_vault(phone):
    with_decoy(phone)
    page = phone.page
    phone.go("settings/decoy", "Decoy PIN")
    page.get_by_role("button", name="Remove it").click()
    page.get_by_role("heading", name="Remove the decoy PIN?").wait_for()
    phone.check()
    phone.type_pin()
    page.get_by_text("The decoy PIN was removed").wait_for()
    page.get_by_role("button", name="Set a decoy PIN").wait_for()
    phone.lock()
    phone.type_pin(DECOY)
    page.get_by_text("The PIN is wrong").wait_for()
    phone.unlock()


def test_the_decoy_settings_fit_a_desktop(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    desk.go("settings/decoy", "Settings")
    desk.page.get_by_role("button", name="Set a decoy PIN").wait_for()
    desk.check()
    desk.picture("decoy")
    desk.quiet()
