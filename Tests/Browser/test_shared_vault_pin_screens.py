"""The PIN of a shared vault on the screens of a phone: setting, entering, changing and removing it, and what a locked
vault shows."""

import pytest

from phone import PIN, Phone
from vault_steps import share
from waiting import eventually, eventually_equals

VAULT_PIN, OTHER_PIN = "402817", "573926"
SECRETS = ["MARKER-by-anna", "MARKER-by-ben"]


@pytest.fixture
def phone(new_context, neighbours, hub, anna, ben):
    """Anna's phone with a vault that she shares with Ben, on the vault's page."""
    share(anna, ben)
    stored = anna.do("async () => (await window.v.ours()).id")
    anna.do("() => window.v.companion.close()")
    phone = Phone(new_context, hub, context=anna.context)
    phone.page.goto(phone.address)
    phone.unlock()
    phone.vault = stored
    phone.go(f"settings/vaults?vault={stored}", "Shared vault")
    phone.page.get_by_role("heading", name="PIN of this vault").wait_for()
    yield phone
    phone.quiet()


def sets_pin(phone, pin=VAULT_PIN, pictures=False):
    page = phone.page
    page.get_by_role("button", name="Set a PIN for this vault").click()
    page.get_by_role("heading", name="A PIN for this vault").wait_for()
    if pictures:
        pictured(phone, "vault-pin-explained")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Set a PIN for this vault?").wait_for()
    phone.type_pin()
    page.get_by_role("heading", name="Choose the vault’s PIN").wait_for()
    if pictures:
        phone.type_pin(PIN)
        page.get_by_text("Repeat the PIN").wait_for()
        phone.type_pin(PIN)
        page.get_by_text("This PIN opens AppLocker; choose another one").wait_for()
        phone.type_pin("123456")
        page.get_by_text("Sequences of digits or letters are easy to guess").wait_for()
        pictured(phone, "vault-pin-choice")
    phone.type_pin(pin)
    page.get_by_text("Repeat the PIN").wait_for()
    phone.type_pin(pin)
    page.get_by_text("This vault has a PIN of its own, and is locked.").wait_for()


def pictured(phone, name):
    """At the sizes and themes that are looked at; ends as it was."""
    phone.check()
    size, theme = phone.size, phone.theme
    section = phone.page.get_by_role("heading", name="PIN of this vault")
    for width, look in ((393, "light"), (393, "dark"), (320, "light")):
        phone.size = (width, 659 if width == 393 else 568)
        phone.page.set_viewport_size({"width": phone.size[0], "height": phone.size[1]})
        phone.becomes(look)
        phone.check_width()
        if section.is_visible():
            section.evaluate("(heading) => heading.scrollIntoView()")
        phone.picture(name)
    phone.size = size
    phone.page.set_viewport_size({"width": size[0], "height": size[1]})
    phone.becomes(theme)


def opens_everline(phone, address="moments"):
    """It asks for AppLocker's PIN first, once after each unlocking."""
    phone.go(address, "Everline")
    phone.confirm()


def shows_nothing(phone):
    content = phone.page.content()
    assert not [secret for secret in SECRETS if secret in content], content


def test_a_pin_is_set_and_the_vault_locked_on_every_screen(phone):
    page = phone.page
    pictured(phone, "vault-pin-none")
    sets_pin(phone, pictures=True)
    pictured(phone, "vault-pin-locked")
    # It was the last one that was chosen.
    phone.inside("await companion.privateStorage.set('chosenVault', arg);", phone.vault)
    page.reload()
    phone.unlock()
    opens_everline(phone)
    for address, heading in (
        ("home", "Home"),
        ("settings/everline", "Everline"),
        ("settings/notifications", "Notifications"),
        ("moments/statistics", None),
        ("moments/map", None),
        ("settings", "Settings"),
        ("settings/vaults", "Vaults"),
    ):
        phone.go(address, heading)
        page.locator(".screen").wait_for()
        shows_nothing(phone)
    page.get_by_role("link", name="MARKER-OURS").get_by_text("Locked").wait_for()
    pictured(phone, "vault-pin-list")
    phone.go("moments", "Everline")
    page.get_by_text("“MARKER-OURS” is locked. These are your own moments.").wait_for()
    assert page.get_by_role("button", name="Mine", exact=True).get_attribute("aria-pressed") == "true"
    pictured(phone, "vault-pin-everline")
    chip = page.get_by_role("button", name="MARKER-OURS (locked)")
    chip.click()
    page.get_by_role("heading", name="Open “MARKER-OURS”").wait_for()
    pictured(phone, "vault-pin-asked")
    phone.type_pin(OTHER_PIN)
    page.get_by_text("The PIN is wrong. 9 tries left before this device loses the vault.").wait_for()
    pictured(phone, "vault-pin-wrong")
    phone.type_pin(VAULT_PIN)
    page.get_by_text("MARKER-by-ben").first.wait_for()
    assert page.get_by_role("button", name="MARKER-OURS").get_attribute("aria-pressed") == "true"

    # Locked on its page: the moments that another tab shows are removed there too.
    other = Phone(phone.new_context, phone.computer, context=phone.context)
    other.page.goto(other.address)
    other.unlock()
    other.go(f"settings/vaults?vault={phone.vault}", "Shared vault")
    other.page.get_by_role("button", name="Enter the vault’s PIN").click()
    other.type_pin(VAULT_PIN)
    other.page.get_by_role("button", name="Lock this vault").wait_for()
    pictured(other, "vault-pin-set")
    other.page.get_by_role("button", name="Lock this vault").click()
    other.page.get_by_role("button", name="Enter the vault’s PIN").wait_for()
    page.get_by_text("“MARKER-OURS” is locked. These are your own moments.").wait_for()
    shows_nothing(phone)
    page.get_by_role("button", name="Enter its PIN").click()
    phone.type_pin(VAULT_PIN)
    page.get_by_text("MARKER-by-ben").first.wait_for()
    # With AppLocker.
    phone.lock()
    phone.unlock()
    opens_everline(phone)
    page.get_by_text("“MARKER-OURS” is locked. These are your own moments.").wait_for()
    shows_nothing(phone)
    other.quiet()


def test_the_pin_is_changed_and_removed_on_the_vaults_page(phone):
    page = phone.page
    sets_pin(phone)
    enter = page.get_by_role("button", name="Enter the vault’s PIN")
    enter.click()
    phone.type_pin(VAULT_PIN)
    page.get_by_role("button", name="Change the vault’s PIN").click()
    phone.type_pin(PIN)
    page.get_by_text("The PIN is wrong. 9 tries left").wait_for()
    phone.type_pin(VAULT_PIN)
    page.get_by_role("heading", name="Choose the vault’s PIN").wait_for()
    for pin in (OTHER_PIN, VAULT_PIN):
        phone.type_pin(pin)
    page.get_by_text("The two PINs differ; choose one again.").wait_for()
    for pin in (OTHER_PIN, OTHER_PIN):
        phone.type_pin(pin)
    page.get_by_text("The vault’s PIN was changed").wait_for()
    page.get_by_role("button", name="Lock this vault").click()
    enter.click()
    phone.type_pin(VAULT_PIN)
    page.get_by_text("The PIN is wrong. 9 tries left").wait_for()
    phone.type_pin(OTHER_PIN)
    page.get_by_role("button", name="Remove the vault’s PIN").click()
    page.get_by_role("heading", name="Remove the vault’s PIN?").wait_for()
    phone.type_pin(OTHER_PIN)
    page.get_by_role("button", name="Set a PIN for this vault").wait_for()
    phone.lock()
    phone.unlock()
    phone.go("settings/vaults", "Vaults")
    page.get_by_role("link", name="MARKER-OURS").get_by_text("2 devices").wait_for()


def test_without_the_hub_one_sentence_explains_it(phone):
    page = phone.page
    page.get_by_role("button", name="Set a PIN for this vault").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Set a PIN for this vault?").wait_for()
    phone.type_pin()
    page.get_by_role("heading", name="Choose the vault’s PIN").wait_for()
    page.route("**/v1/pin-share", lambda route: route.abort())
    phone.type_pin(VAULT_PIN)
    page.get_by_text("Repeat the PIN").wait_for()
    phone.type_pin(VAULT_PIN)
    page.get_by_text("The hub can’t be reached. The vault has no PIN; try again later.").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.unroute("**/v1/pin-share")
    sets_pin(phone)
    phone.context.set_offline(True)
    page.get_by_role("button", name="Enter the vault’s PIN").click()
    phone.type_pin(VAULT_PIN)
    page.get_by_text("You’re offline. The vault’s PIN works again once the hub is reachable.").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Enter the vault’s PIN").wait_for()
    phone.context.set_offline(False)
    phone.online_again()


def test_too_many_wrong_pins_wait_and_a_locked_vault_can_be_removed(phone):
    page = phone.page
    sets_pin(phone)
    page.get_by_role("button", name="Enter the vault’s PIN").click()
    for left in (9, 8, 7, 6):
        phone.type_pin(OTHER_PIN)
        page.get_by_text(f"The PIN is wrong. {left} tries left").wait_for()
    phone.type_pin(OTHER_PIN)
    page.get_by_text("Too many wrong PINs.").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Enter the vault’s PIN").click()
    page.get_by_text("Too many wrong PINs.").wait_for()
    pictured(phone, "vault-pin-waits")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Remove it from this device").click()
    page.get_by_role("heading", name="Remove it from this device?").wait_for()
    pictured(phone, "vault-pin-forget")
    phone.type_pin()
    page.get_by_text("No other vault yet").wait_for()


def test_a_tapped_notification_of_a_locked_vault_offers_to_open_it(phone):
    page = phone.page
    sets_pin(phone)
    opens_everline(phone, f"moments?vault={phone.vault}")
    page.get_by_role("button", name="Enter its PIN").click()
    phone.type_pin(VAULT_PIN)
    page.get_by_text("MARKER-by-ben").first.wait_for()
    eventually_equals(
        lambda: page.get_by_role("button", name="MARKER-OURS").get_attribute("aria-pressed"), "true", "it is chosen"
    )
    eventually(lambda: page.get_by_text("is locked").count() == 0, "nothing says that it is locked")
