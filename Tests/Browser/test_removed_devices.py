"""A device that is removed from the household is also removed from the vaults that it shares with the others."""

import pytest

from settings_steps import page_of
from toasts import REMEMBER_TOASTS, shown_toasts
from vault_steps import NAMES, NEWEST, CompanionTab, joins
from waiting import eventually, eventually_reported

# Tom's app has a version that does not report its owner.
FORGET_OWNER = """async () => {
    const { companion } = await window.v.ours();
    const { sealEnvelope } = await import("/crypto/envelope.js");
    const { signRecord } = await import("/crypto/signature.js");
    const { utf8 } = await import("/crypto/bytes.js");
    const { ringKind } = await import("/crypto/ring.js");
    const { device } = companion;
    const { keys } = device;
    const key = `devices/${keys.device}`;
    while (!(await device.store.record(key))) await new Promise((done) => setTimeout(done, 10));
    const { revision } = (await device.store.record(key)).record;
    const status = keys.ring.current(ringKind.status, keys.household);
    const name = { vault: keys.household, collection: "devices", id: keys.device, revision: revision + 1 };
    const sealed = await sealEnvelope(utf8(JSON.stringify({ name: "Tom's phone" })), name, status.key, status.epoch);
    const fields = { epoch: status.epoch, author: keys.device, sealed, replaces: revision };
    await device.hub.write([await signRecord(keys.signingKey, name, fields)]);
}"""
OWNERS = "async () => (await (await window.v.ours()).membership.members()).map(({ name, owner }) => [name, owner])"


@pytest.fixture
def tom(phone, computer):
    """Another phone of the household, in a vault with Anna's; `tom.anna` and `tom.tab` are their tabs without
    screens."""
    tom = phone.another(name="Tom's phone").pair()
    tom.anna, tom.tab = CompanionTab(phone), CompanionTab(tom)
    tom.anna.do("async () => { await window.v.companion.vaults.create('Ours'); }")
    assert "id" in joins(tom.anna, tom.tab)[1]
    tom.anna.until(f"async () => (await ({NAMES})()) === \"Anna's phone,Tom's phone\"", "every member has a name")
    yield tom
    tom.quiet()


def remove_tom(phone):
    page = page_of(phone, "devices", "Devices")
    page.get_by_role("button", name="Tom's phone").click()
    page.get_by_role("button", name="Revoke it").click()
    phone.confirm("Revoke Tom's phone?")
    page.get_by_role("heading", name="Revocation of Tom's phone").wait_for()
    page.get_by_text("Revoking…").wait_for(state="detached")
    return page.get_by_role("dialog")


def test_one_sheet_reports_removal_from_household_and_shared_vaults(phone, tom):
    sheet = remove_tom(phone)
    sheet.locator("li", has_text="Shared vault “Ours”").get_by_text(
        "Removed. The vault’s keys are replaced."
    ).wait_for()
    sheet.locator("li", has_text="Household").get_by_text("Tom's phone is revoked").wait_for()
    sheet.get_by_text("Unsent changes are lost").wait_for()
    phone.check()
    phone.picture("device-removal")
    sheet.get_by_role("button", name="Close").click()
    tom.anna.until(f'async () => (await ({NAMES})()) === "Anna\'s phone"', "Tom's phone is removed from the vault")
    tom.anna.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")
    tom.page.get_by_role("heading", name="This device was revoked").wait_for()


def test_the_sheet_shows_failed_removals(phone, tom):
    cut_off = []

    def cut(route):
        if route.request.method != "POST":
            return route.fallback()
        cut_off.append(route.request)
        return route.abort()

    phone.context.route("**/v1/roster", cut)
    sheet = remove_tom(phone)
    sheet.locator("li", has_text="Shared vault “Ours”").get_by_text(
        "The hub can’t be reached. Remove it in the vault’s list."
    ).wait_for()
    sheet.locator("li", has_text="Household").get_by_text("Tom's phone is revoked").wait_for()
    phone.check()
    phone.picture("device-removal-failed")
    assert "Tom's phone" in tom.anna.do(NAMES)
    # At each further connection too.
    eventually_reported(
        phone.page,
        lambda: len(cut_off) >= 3,
        "once the household revoked it, each of the two tabs tried again by itself",
    )
    # The removal succeeds at the next connection, here of this tab alone: not before it is unlocked again.
    tom.anna.page.close()
    phone.context.add_init_script(REMEMBER_TOASTS)
    phone.page.reload()
    phone.context.unroute("**/v1/roster")
    phone.unlock()
    eventually(
        lambda: any("Tom's phone was removed from the shared vault “Ours”" in one for one in shown_toasts(phone)),
        "the removal is reported",
    )


def test_a_member_without_a_reported_owner_is_listed_for_review(phone, tom):
    tom.tab.do(FORGET_OWNER)
    tom.anna.until(
        f'async () => (await ({OWNERS})()).some(([name, owner]) => name === "Tom\'s phone" && owner === null)',
        "the report arrives",
    )
    sheet = remove_tom(phone)
    sheet.locator("li", has_text="Shared vault “Ours”").get_by_text(
        "The household of these members is unknown: Tom's phone."
    ).wait_for()
    sheet.locator("li", has_text="Household").get_by_text("Tom's phone is revoked").wait_for()
    phone.check()
    phone.picture("device-removal-unclear")
    assert "Tom's phone" in tom.anna.do(NAMES)


def test_a_phone_that_the_computer_revokes_is_removed_from_shared_vaults_by_the_others(phone, tom, computer):
    computer.expect("devices", "revoke", "Tom's phone", "--yes", passcode=True)
    tom.anna.until(f'async () => (await ({NAMES})()) === "Anna\'s phone"', "Tom's phone is removed from the vault")
    tom.anna.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")


def test_only_its_own_household_identifies_a_member(phone, tom):
    tags = tom.anna.do("""async () => {
        const { ownerTag } = await import("/household/shared-keys.js");
        const { membership, companion } = await window.v.ours();
        const household = companion.device.paired.household;
        const devices = window.v.companion.device.roster.members.map(({ id }) => id);
        const members = await membership.members();
        const found = await Promise.all(members.map(async (member) => {
            const owners = await Promise.all(devices.map((device) => ownerTag(household, member.id, device)));
            return [member.name, owners.filter((owner) => owner === member.owner).length];
        }));
        const shown = JSON.stringify(members);
        return { found, ids: devices.filter((device) => shown.includes(device)) };
    }""")
    assert sorted(tags["found"]) == [["Anna's phone", 1], ["Tom's phone", 1]], tags
    assert tags["ids"] == [], "members can read an identifier of the household"
