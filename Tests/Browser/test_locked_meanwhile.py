"""What was still running, or open, when the app was locked."""

import pytest

from note_steps import opened, save_notes
from phone import PIN
from vault_steps import share
from waiting import eventually, eventually_equals

DECOY = "904417"
# Edits wait for this lock, as if another tab was writing, until `release` is called.
HOLD_EDITS = """() => new Promise((held) => {
    navigator.locks.request("applocker/edit", () => new Promise((release) => {
        window.release = release;
        held();
    }));
})"""
WAIT_FOR_EDIT = "async () => (await navigator.locks.query()).pending.some(({ name }) => name === 'applocker/edit')"
NO_EDIT = """async () => {
    const { held, pending } = await navigator.locks.query();
    return ![...held, ...pending].some(({ name }) => name === "applocker/edit");
}"""


@pytest.mark.computer_is_off
def test_the_result_of_an_edit_that_ends_after_locking_is_not_shown(phone):
    save_notes(phone, Safe="12-34-56", List="Milk")
    page = opened(phone)
    page.get_by_role("link", name="Safe").click()
    page.evaluate(HOLD_EDITS)
    page.get_by_role("button", name="Delete this note").click()
    eventually(lambda: page.evaluate(WAIT_FOR_EDIT), "the edit waits")
    phone.lock()
    page.evaluate("() => release()")
    eventually(lambda: page.evaluate(NO_EDIT), "the edit ended")
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
    assert page.locator("#toasts").inner_text() == ""
    assert page.title() == "AppLocker"
    phone.unlock()
    assert phone.inside("return (await companion.notes.list()).notes.map(({ title }) => title);") == ["List"]


@pytest.mark.computer_is_off
def test_an_address_of_the_settings_reveals_nothing_to_a_decoy_session(phone):
    page = phone.page
    phone.inside("await companion.decoy.set(arg);", DECOY)
    vault = phone.inside("return (await companion.vaults.create('Ours')).id;")
    for address, left in ((f"settings/vaults?vault={vault}", "settings/vaults"), ("settings/decoy", "settings")):
        phone.go(address)
        heading = "Decoy PIN" if left == "settings" else "Shared vault"
        page.get_by_role("heading", name=heading, level=1).wait_for()
        phone.lock()
        phone.unlock(DECOY)
        eventually_equals(lambda: page.evaluate("() => location.hash"), f"#/{left}", "the page above is shown")
        phone.lock()
        phone.unlock(PIN)
    phone.go(f"settings/vaults?vault={vault}", "Shared vault")
    phone.lock()
    phone.unlock(PIN)
    page.get_by_role("heading", name="Members").wait_for()


def test_a_shared_vault_that_opens_during_a_lock_is_closed(anna, ben):
    share(anna, ben)
    state = anna.do(
        """async (pin) => {
        const { companion } = window.v;
        const { VaultMembership } = await import("/features/vaults/membership.js");
        const real = VaultMembership.prototype.name;
        companion.lock();
        const opening = new Promise((reached) => {
            VaultMembership.prototype.name = async function () {
                const name = await real.call(this);
                await new Promise((goOn) => reached({ vault: this.companion, goOn }));
                return name;
            };
        });
        await companion.unlockWithPIN(pin);
        const { vault, goOn } = await opening;
        companion.lock();
        goOn();
        await companion.vaults.list().catch(() => {});
        VaultMembership.prototype.name = real;
        return vault.state;
    }""",
        PIN,
    )
    assert state == "locked"
