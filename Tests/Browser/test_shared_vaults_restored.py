"""A shared vault at a hub that is restored from a backup."""

import shutil

from vault_steps import joins, share

FORGET = """async () => {
    const [vault] = await window.v.companion.vaults.list();
    await window.v.companion.vaults.forget(vault.id);
}"""
WAKE = "async () => { (await window.v.ours()).companion.wake(); }"
LIVE = "async () => (await window.v.ours()).companion.syncLoop.connection === 'live'"


def backed_up(hub, *members):
    """Copies the stopped hub's directory; returns a function that restores the copy. Waits each time until the members
    are connected."""
    directory, backup = hub.folder / "hub", hub.folder / "backup"

    def restarted(change, members):
        hub.stop_hub()
        change()
        for one in members:
            one.until(f"async () => !(await ({LIVE})())", "the end of the connection is noticed")
        hub.start_hub()
        for one in members:
            one.do(WAKE)
            one.until(LIVE, "connected")

    def replace():
        shutil.rmtree(directory)
        shutil.copytree(backup, directory)

    restarted(lambda: shutil.copytree(directory, backup), members)
    return lambda *members: restarted(replace, members)


def test_members_send_lost_records_and_memberships_again_to_a_restored_hub(anna, ben, cleo, hub):
    share(anna, ben, cleo)
    restore = backed_up(hub, anna, ben)
    token = cleo.do("async () => Array.from((await window.v.ours()).companion.device.facts.token)")
    member = cleo.do("async () => (await window.v.ours()).companion.device.facts.device")
    anna.do("async (member) => { await (await window.v.ours()).membership.remove(member); }", member)
    anna.add("written after", 5, None)
    titles = ["MARKER-by-anna", "MARKER-by-ben", "written after"]
    for one in (anna, ben):
        one.sent()
        one.sees(titles)

    restore(anna, ben)
    refused = anna.do(
        """async (token) => {
        const { HubClient } = await import("/hub/client.js");
        const hub = new HubClient(location.origin, Uint8Array.from(token));
        return hub.records(0).then(() => "served", ({ code }) => code);
    }""",
        token,
    )
    assert refused == "unauthorized", refused
    lost = """async () => {
        const lost = await (await window.v.ours()).companion.device.store.lost();
        return lost.filter((key) => !key.startsWith("audit/")).length === 0;
    }"""
    for one in (anna, ben):
        one.until(lost, "the hub has all records again")
        one.sent()
        one.sees(titles)
    # A new member reads everything from the hub.
    cleo.do(FORGET)
    assert "id" in joins(anna, cleo)[1]
    cleo.sees(titles)


def test_members_continue_at_a_hub_restored_to_before_a_member_joined(anna, ben, cleo, hub):
    share(anna, ben)
    restore = backed_up(hub, anna, ben)
    titles = ["MARKER-by-anna", "MARKER-by-ben"]
    assert "id" in joins(anna, cleo)[1]
    for one in (anna, ben, cleo):
        one.sees(titles)
        one.sent()
    # Anna created the keys, and sends them again.
    restore(anna, ben)
    for one in (anna, ben):
        one.sent()
    # Ben's keys are newer than Anna's at the hub; he sends Cleo those that she needs.
    anna.context.set_offline(True)
    restore(ben)
    cleo.do(FORGET)
    assert "id" in joins(ben, cleo)[1]
    cleo.sees(titles)
    anna.context.set_offline(False)
    anna.do(WAKE)
    anna.until(LIVE, "connected")
    anna.sent()
