"""What a member of a shared vault may do."""

from vault_steps import NEWEST, joins, share

OWN_ID = "async () => (await window.v.ours()).companion.device.keys.device"
REMOVE = "async (id) => (await window.v.ours()).membership.remove(id)"
IS_OUT = "async () => (await window.v.ours()).isOut"
# What the hub answers to a token in the vault.
SERVED = """async () => {
    const { HubClient } = await import("/protocol/client.js");
    const { token } = (await window.v.ours()).companion.device.facts;
    return new HubClient(location.origin, token).records(0).then(() => "served", ({ code }) => code);
}"""


def test_a_member_who_was_invited_has_every_right_of_the_founder(anna, ben, cleo):
    """Anna made the vault."""
    share(anna, ben)
    assert "id" in joins(ben, cleo)[1], "Ben admits a device"
    ben.do("""async () => {
        const { companion, membership } = await window.v.ours();
        const { moments: [moment] } = await companion.moments.list({ search: "MARKER-by-anna" });
        await companion.moments.save(moment, { ...moment, title: "changed by Ben" });
        await membership.rename("named by Ben");
    }""")
    anna.sees(["MARKER-by-ben", "changed by Ben"])
    anna.until("async () => (await window.v.ours()).name === 'named by Ben'", "the vault's new name")
    ben.do(REMOVE, anna.do(OWN_ID))
    anna.until(IS_OUT, "Anna's phone is out of the vault that it made")
    assert anna.do(SERVED) == "unauthorized"
    for one in (ben, cleo):
        one.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")
