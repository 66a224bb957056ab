"""A decoy PIN, set and opened through the pages, and that no screen tells it from the real one."""

import re

from app import DESKTOP, PIN, eventually
from app_vault import inside

DECOY = "904417"
TABS = ["home", "alerts", "apps", "notes", "photos", "moments"]
# What was done is another log for each vault; only that it is there is compared.
OWN = {"audit"}


def settings_pages(phone):
    phone.go("settings", "Settings")
    phone.page.locator(".settings-link").first.wait_for()
    return phone.page.evaluate("() => [...document.querySelectorAll('.settings-link')].map((link) => link.hash.slice(2))")


def seen(phone, address):
    """Elements, classes, states and words of a screen; digits count as one, as times and sizes go on."""
    phone.go("settings/appearance")
    phone.page.get_by_role("heading", name="Appearance", exact=True).first.wait_for()
    phone.go(address)
    phone.page.wait_for_function("(address) => location.hash === `#/${address}`", arg=address)
    phone.page.wait_for_timeout(700)
    found = phone.page.evaluate("""() => {
        const told = (node) => node.nodeType === Node.TEXT_NODE ? node.textContent : node.nodeType !== Node.ELEMENT_NODE ? ""
            : `<${node.tagName} ${["class", "hidden", "disabled", "aria-current", "aria-checked", "type", "role"].map((name) => node.getAttribute(name) ?? "-").join("|")}`
                + `${node.checked ? "*" : ""}>${[...node.childNodes].map(told).join("")}`;
        return told(document.querySelector("#app"));
    }""")
    return re.sub(r"Just now|\d+|a moment ago", "0", found)


def everything(phone):
    pages = settings_pages(phone)
    screens = {address: seen(phone, address) for address in TABS + ["settings"] + pages}
    return {address: (bool(found) if address.split("/")[-1] in OWN else found) for address, found in screens.items()}


def matches(found, wanted):
    assert list(found) == list(wanted), f"{list(found)} instead of {list(wanted)}"
    for address, screen in wanted.items():
        if found[address] != screen:
            at = next((index for index, (one, two) in enumerate(zip(str(found[address]), str(screen))) if one != two), 0)
            raise AssertionError(f"{address}: …{str(found[address])[max(0, at - 150):at + 150]}… instead of …{str(screen)[max(0, at - 150):at + 150]}…")


def set_decoy(phone, own, pin):
    page = phone.page
    phone.go("settings/decoy", "Decoy PIN")
    page.get_by_role("button", name="Set a decoy PIN").click()
    page.get_by_role("heading", name="Type the PIN you have now").wait_for()
    phone.type_pin(own)
    for heading in ("Choose the decoy PIN", "Type the decoy PIN again"):
        page.get_by_role("heading", name=heading).wait_for()
        phone.type_pin(pin)
    page.get_by_text("The decoy PIN is set").wait_for()


def lock(phone):
    phone.page.evaluate("() => document.querySelectorAll('.toast').forEach((one) => one.remove())")
    phone.go("settings", "Settings")
    phone.page.get_by_role("button", name="Lock now").first.click()
    phone.page.get_by_role("heading", name="AppLocker is locked").wait_for()


def test_no_screen_tells_the_decoy_from_a_phone_without_one(phone, _):
    lock(phone)
    phone.unlock()
    before = everything(phone)
    phone.go("settings/decoy", "Decoy PIN")
    phone.check()
    phone.picture("decoy")
    set_decoy(phone, PIN, DECOY)
    phone.page.get_by_text("You see this behind your own PIN alone").wait_for()
    phone.check()
    phone.picture("decoy-set")
    lock(phone)
    phone.unlock(DECOY)
    matches(everything(phone), before)


def test_slips_and_poor_pins_are_said(phone, _):
    lock(phone)
    phone.unlock(DECOY)
    page = phone.page
    phone.go("settings/decoy", "Decoy PIN")
    page.get_by_role("button", name="Set a decoy PIN").click()
    page.get_by_role("heading", name="Type the PIN you have now").wait_for()
    phone.check()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin(DECOY)
    page.get_by_role("heading", name="Choose the decoy PIN").wait_for()
    phone.type_pin("123456")
    page.get_by_text("guessed first").wait_for()
    for pin in (DECOY, DECOY):
        phone.type_pin(pin)
    page.get_by_text("This is the PIN that you have already").wait_for()


def test_each_vault_is_written_and_read_by_itself(phone, _):
    inside(phone, "await companion.notes.save(null, { title: 'Really mine', body: '' });")
    inside(phone, "await companion.notes.save(null, { title: 'Shopping', body: 'milk' });", pin=DECOY)
    page = phone.page
    for pin, own, other in ((DECOY, "Shopping", "Really mine"), (PIN, "Really mine", "Shopping")):
        lock(phone)
        phone.unlock(pin)
        phone.go("notes")
        # It asks by itself.
        page.get_by_role("heading", name="Open your notes").wait_for()
        phone.type_pin(pin)
        page.get_by_text(own).first.wait_for()
        assert page.get_by_text(other).count() == 0
        assert page.get_by_text("can’t be opened").count() == 0


def test_an_address_of_the_other_vault_says_nothing(phone, _):
    note = inside(phone, "return (await companion.notes.list()).notes[0].id;")
    lock(phone)
    phone.unlock()
    phone.go(f"notes/{note}")
    phone.page.reload()
    phone.unlock(DECOY)
    eventually(lambda: phone.page.evaluate("() => location.hash") == "#/notes", "the list")
    assert phone.page.get_by_text("can’t be shown").count() == 0
    lock(phone)
    phone.go(f"notes/{note}")
    phone.unlock(PIN)
    phone.page.wait_for_timeout(500)
    assert phone.page.evaluate("() => location.hash") == f"#/notes/{note}", "its own is where it was"


def test_the_hub_counts_both_alike(phone, _):
    """A real hub: each wrong one is one, each right one begins anew, and neither is asked twice."""
    counts = phone.page.evaluate("""async ([real, decoy]) => {
        const { Companion } = await import("/core/companion.js");
        const companion = await Companion.open();
        const counts = [];
        for (const pin of ["318246", real, "318246", decoy, "318246", "318247", decoy]) {
            await companion.unlockWithPIN(pin).catch(() => {});
            counts.push((await companion.pinState()).failures);
            companion.lockTab();
        }
        companion.close();
        return counts;
    }""", [PIN, DECOY])
    assert counts == [1, 0, 1, 0, 1, 2, 0], counts


def test_it_is_removed_with_all_that_was_behind_it(phone, _):
    lock(phone)
    phone.unlock()
    page = phone.page
    phone.go("settings/decoy", "Decoy PIN")
    page.get_by_role("button", name="Remove it").click()
    page.get_by_role("heading", name="Remove the decoy PIN?").wait_for()
    phone.check()
    phone.type_pin()
    page.get_by_text("The decoy PIN was removed").wait_for()
    page.get_by_role("button", name="Set a decoy PIN").wait_for()
    lock(phone)
    phone.type_pin(DECOY)
    page.get_by_text("The PIN is wrong").wait_for()
    phone.unlock()


def test_it_is_well_laid_out_on_a_desktop(phone, _):
    desk = phone.another(DESKTOP).pair()
    try:
        desk.go("settings/decoy", "Settings")
        desk.page.get_by_role("button", name="Set a decoy PIN").wait_for()
        desk.check()
        desk.picture("decoy")
    finally:
        desk.close()
