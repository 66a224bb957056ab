"""The code that a phone shows beside an invitation's link is typed instead of it."""

from founding_steps import chooses_pin, names_itself, new_phone, shared_vault, with_everline, words_on
from phone import DESKTOP, Phone


def shown_code(phone):
    code = phone.page.locator(".sharing-code")
    code.wait_for()
    return code.text_content()


def type_code(page, button, code):
    page.get_by_role("button", name=button).click()
    page.get_by_role("textbox", name="Code").fill(code)
    page.get_by_role("button", name="Continue").last.click()


def test_a_typed_code_adds_a_phone(new_context, phone_hub):
    hub = phone_hub()
    anna, *_ = with_everline(new_context, hub)
    anna.go("settings/devices", "Devices")
    anna.page.get_by_role("button", name="Add a phone").click()
    anna.type_pin()
    code = shown_code(anna)
    anna.picture("founded-add-phone")
    anna.check()
    other = new_phone(new_context, hub, "Anna's second phone")
    other.page.goto(other.address)
    type_code(other.page, "Type a code", code.lower())
    other.page.get_by_role("heading", name="Add this phone").wait_for()
    names_itself(other, "Pair this device")
    words = words_on(other.page)
    anna.page.get_by_text("“Anna's second phone” asks to join").wait_for()
    assert words_on(anna.page) == words
    anna.page.get_by_role("button", name="Admit").click()
    chooses_pin(other)
    other.page.get_by_role("heading", name="Home", level=1).wait_for()
    # It is used up.
    third = new_phone(new_context, hub, "A third phone")
    third.page.goto(third.address)
    type_code(third.page, "Type a code", code)
    third.page.get_by_text("This hub has no invitation with this code").wait_for()
    for one in (anna, other, third):
        one.quiet()


def test_a_computers_invitation_has_no_code(new_context, phone_hub):
    anna, *_ = with_everline(new_context, phone_hub())
    anna.go("settings/devices", "Devices")
    anna.page.get_by_role("button", name="Connect a computer").click()
    anna.type_pin()
    anna.page.locator(".sharing-link").wait_for()
    assert anna.page.locator(".sharing-code").count() == 0
    anna.quiet()


def test_a_new_phone_joins_a_shared_vault_by_a_typed_code(new_context, phone_hub):
    hub = phone_hub()
    anna, *_ = with_everline(new_context, hub)
    shared_vault(anna)
    code = shown_code(anna)
    ben = new_phone(new_context, hub, "Ben's phone")
    ben.page.goto(ben.address)
    ben.page.get_by_role("button", name="Join my partner").click()
    type_code(ben.page, "Type the code", code)
    ben.page.get_by_text("This phone first gets a vault of its own").wait_for()
    assert "vault=" not in ben.page.url, "the secret remains in the address"
    names_itself(ben)
    chooses_pin(ben)
    words = words_on(ben.page)
    anna.page.get_by_text("“Ben's phone” asks to join").wait_for()
    assert words_on(anna.page) == words
    anna.page.get_by_role("button", name="Admit").click()
    ben.page.get_by_role("heading", name="Members").wait_for()
    for one in (anna, ben):
        one.quiet()


def test_a_paired_device_joins_a_shared_vault_by_a_typed_code(new_context, neighbours, hub):
    anna = Phone(new_context, hub).begin(neighbours.anna)
    ben = Phone(new_context, hub, DESKTOP).begin(neighbours.ben)
    anna.go("settings/vaults", "Vaults")
    anna.page.get_by_role("button", name="New shared vault").click()
    anna.page.get_by_role("button", name="Create").click()
    anna.page.get_by_role("heading", name="Shared vault", level=1).wait_for()
    anna.page.get_by_role("button", name="Invite a device").click()
    anna.type_pin()
    code = shown_code(anna)
    anna.picture("vaults-code")
    anna.check()
    ben.go("settings/vaults")
    type_code(ben.page, "Type an invitation’s code", code)
    ben.page.get_by_text("You are invited to a shared vault").wait_for()
    ben.page.get_by_role("button", name="Request to join").click()
    anna.page.get_by_text("asks to join").wait_for()
    anna.page.get_by_role("button", name="Admit").click()
    ben.page.get_by_role("heading", name="Members").wait_for()
    for one in (anna, ben):
        one.quiet()
