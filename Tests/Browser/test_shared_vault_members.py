"""What a member of a shared vault may do, and a device that its household revoked."""

import pytest

from phone import PIN, Phone
from vault_steps import NAMES, NEWEST, CompanionTab, joins, share

OWN_ID = "async () => (await window.v.ours()).companion.device.keys.device"
REMOVE = "async (id) => (await window.v.ours()).membership.remove(id)"
IS_REMOVED = "async () => (await window.v.ours()).isRevoked"
# The hub's response to the device's token in the vault.
SERVED = """async () => {
    const { HubClient } = await import("/hub/client.js");
    const { token } = (await window.v.ours()).companion.device.facts;
    return new HubClient(location.origin, token).records(0).then(() => "served", ({ code }) => code);
}"""


def test_an_invited_member_has_every_right_of_the_founder(anna, ben, cleo):
    """Anna created the vault."""
    share(anna, ben)
    assert "id" in joins(ben, cleo)[1], "Ben can't admit a device"
    ben.do("""async () => {
        const { companion, membership } = await window.v.ours();
        const { moments: [moment] } = await companion.moments.list({ search: "MARKER-by-anna" });
        await companion.moments.save(moment, { ...moment, title: "changed by Ben" });
        await membership.rename("named by Ben");
    }""")
    anna.sees(["MARKER-by-ben", "changed by Ben"])
    anna.until("async () => (await window.v.ours()).name === 'named by Ben'", "the vault's new name")
    ben.do(REMOVE, anna.do(OWN_ID))
    anna.until(IS_REMOVED, "Anna's phone is removed from the vault that it created")
    assert anna.do(SERVED) == "unauthorized"
    for one in (ben, cleo):
        one.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")


def test_a_revoked_phone_stays_in_a_vault_of_another_household_until_a_member_removes_it(anna, ben, computer_of_ben):
    """The phone runs a copy that doesn't request its household's list of devices, which would make it erase itself. The
    hub destroyed its share of the PIN; a passkey unlocks without it."""
    share(anna, ben)
    authorization = ben.do("""async () => {
        const { base64url } = await import("/crypto/bytes.js");
        const { companion } = window.v;
        const passkey = { credential: new Uint8Array(16), salt: new Uint8Array(32) };
        await companion.addPasskey(passkey, new Uint8Array(32).fill(5));
        return `Bearer ${base64url(companion.device.facts.token)}`;
    }""")
    ben.context.route(
        "**/v1/roster?*",
        lambda route: (
            route.abort() if route.request.headers.get("authorization") == authorization else route.fallback()
        ),
    )
    computer_of_ben.expect("devices", "revoke", "Ben's phone", "--yes", passcode=True)
    opened = ben.do(
        """async (pin) => {
        const { companion } = window.v;
        companion.lock();
        const byPIN = await companion.unlockWithPIN(pin).then(() => "opened", ({ code }) => code);
        await companion.unlockWithPasskey(new Uint8Array(32).fill(5));
        return byPIN;
    }""",
        PIN,
    )
    assert opened == "unauthorized", opened

    anna.add("written after the revocation", 3, None)
    titles = ["MARKER-by-anna", "MARKER-by-ben", "written after the revocation"]
    ben.sees(titles)
    ben.add("by the revoked phone", 4, None)
    for one in (anna, ben):
        one.sees([*titles, "by the revoked phone"])
    assert "Ben's phone" in anna.do(NAMES)

    anna.do(REMOVE, ben.do(OWN_ID))
    ben.until(IS_REMOVED, "the phone is removed")
    assert ben.do(SERVED) == "unauthorized"
    anna.add("written after the removal", 5, None)
    anna.sent()
    ben.sees([*titles, "by the revoked phone"])


@pytest.mark.parametrize("maker", ["another's", "its own"])
def test_a_member_can_neither_hide_as_a_spare_nor_pass_as_another_by_its_name(new_context, neighbours, hub, ben, maker):
    phone = Phone(new_context, hub).begin(neighbours.anna)
    anna = CompanionTab(phone)
    share(anna, ben)
    ids = [one.do(OWN_ID) for one in (anna, ben)]
    ben.do(
        """async (spareOf) => {
        const { companion } = await window.v.ours();
        const { nameRecord } = await import("/household/device-names.js");
        const body = { name: "Anna's phone", owner: "0".repeat(32), spareOf };
        const record = await nameRecord(companion.device, companion.device.keys.device, body, () => false);
        await companion.editor.commit({ waiting: [record] });
    }""",
        ids[maker == "its own"],
    )
    names = [f"Anna's phone ({id[:4]})" for id in ids]
    anna.until(f"async () => (await ({NAMES})()) === {','.join(names)!r}", names)
    assert anna.do("async () => (await window.v.ours()).membership.countShown()") == 2
    phone.go(f"settings/vaults?vault={anna.do('async () => (await window.v.ours()).id')}", "Shared vault")
    phone.page.get_by_role("button", name="Leave this vault").wait_for()
    phone.page.get_by_role("button", name=names[1]).click()
    phone.type_pin()
    ben.until(IS_REMOVED, "Ben's phone is removed")
    phone.quiet()
