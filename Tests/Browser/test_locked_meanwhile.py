"""What was still running, or open, when the app was locked."""

import pytest

import clock
from editor_steps import drafted, editor, kept, written
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


@pytest.mark.computer_is_off
def test_a_moment_that_is_saved_during_a_lock_is_no_draft_afterwards(phone):
    page = editor(phone)
    written(page, "Saved once", "while locking")
    drafted(phone, "Saved once", "while locking")
    page.evaluate(HOLD_EDITS)
    page.get_by_role("button", name="Save", exact=True).click()
    eventually(lambda: page.evaluate(WAIT_FOR_EDIT), "the edit waits")
    phone.lock()
    page.evaluate("() => release()")
    eventually(lambda: page.evaluate(NO_EDIT), "the edit ended")
    eventually_equals(lambda: kept(phone), {"staged": 0, "drafts": {}})
    assert phone.inside("return (await companion.moments.list()).moments.map(({ title }) => title);") == ["Saved once"]


BODIES = "return (await companion.notes.list()).notes.map(({ body }) => body).sort();"


@pytest.mark.computer_is_off
@pytest.mark.parametrize("is_compared", [True, False])
def test_text_in_a_note_that_changed_elsewhere_is_kept_by_a_lock(phone, is_compared):
    page = phone.page
    save_notes(phone, Safe="from the beginning")
    opened(phone)
    page.get_by_role("link", name="Safe").click()
    text = page.get_by_label("Text", exact=True)
    text.click()
    phone.inside("""
        const [note] = (await companion.notes.list()).notes;
        await companion.notes.save(note, { title: "Safe", body: "theirs" });""")
    page.get_by_text("What you see here is yours").wait_for()
    text.press_sequentially("MINE ")
    page.get_by_text("Not saved: choose above").wait_for()
    if is_compared:
        page.get_by_role("button", name="See both").click()
        page.get_by_role("region", name="What you wrote here").wait_for()
    phone.lock()
    eventually(lambda: page.evaluate(NO_EDIT), "the edit ended")
    # The other version is shown again once the hub has refused this one, which becomes a copy.
    eventually_equals(lambda: ["MINE" in body for body in phone.inside(BODIES)], [True, False], "both versions")


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_text_that_is_not_saved_yet_is_kept_by_a_lock(phone):
    page = phone.page
    save_notes(phone, Safe="from the beginning")
    opened(phone)
    page.get_by_role("link", name="Safe").click()
    text = page.get_by_label("Text", exact=True)
    text.wait_for()
    with clock.paused(page):
        text.press_sequentially("MINE ")
        phone.lock()
        eventually(lambda: page.evaluate(NO_EDIT), "the edit ended")
    [body] = phone.inside(BODIES)
    assert "MINE" in body
