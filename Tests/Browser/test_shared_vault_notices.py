"""What a member adds to a shared vault is shown on the others' locked phones: by a real hub, and the real worker."""

import json

import pytest

from notified_phone import CLICK, GENERAL, NOTHING, NotifiedPhone
from push_service import push_service
from test_shared_vault_computer import ANNA, BEN, HOST, NAME, computer_without_household, has_members, joined
from vault_steps import CompanionTab, Person, share
from waiting import eventually, eventually_equals

COMMENT = """async (text) => {
    const { companion } = await window.v.ours();
    const [moment] = (await companion.moments.list()).moments;
    await (await companion.moments.remarks()).comment(moment, text);
}"""
# A notice of this device's own newest moment, as it would push it.
OWN_NOTICE = """async () => {
    const { companion } = await window.v.ours();
    const { noticeOfRecord } = await import("/formats/record-notice.js");
    const rows = await companion.device.store.records("moments");
    const own = rows.find(({ record }) => record.author === companion.device.keys.device);
    return JSON.stringify(await noticeOfRecord(own.record));
}"""
OWN_ID = "async () => (await window.v.ours()).companion.device.keys.device"
# Writes the record with a member's name, which may be another one's.
RENAME = """async ([id, name]) => {
    const { companion } = await window.v.ours();
    const { nameRecord } = await import("/household/device-names.js");
    const record = await nameRecord(companion.device, id, { name, owner: "0".repeat(32) }, () => false);
    await companion.editor.commit({ waiting: [record] });
}"""
KEYS = "async () => (await (await window.v.ours()).companion.device.store.statusKeys()).length"
HAS_PUSH = """async () => {
    const { companion } = await window.v.ours();
    const own = companion.device.keys.device;
    return (await companion.device.hub.devices()).find(({ id }) => id === own).hasPush;
}"""
NOTICES = "() => window.v.companion.device.store.fact('vaultNotices')"


@pytest.fixture
def shared(new_context, new_whole_context, neighbours):
    """Anna's browser without screens, Ben's phone, another tab of it, and the push service of Ben's browser."""
    with push_service() as service, neighbours.hub("--allow-private-push") as hub:
        anna = Person(new_context, hub, neighbours.anna, has_clock=True)
        ben = NotifiedPhone(new_whole_context, hub, neighbours.ben, service)
        tab = CompanionTab(ben.phone)
        share(anna, tab)
        # At most one push a minute says the same; this is a later minute.
        anna.page.clock.fast_forward(61_000)
        yield anna, ben, tab, service
        ben.phone.quiet()
        anna.phone.quiet()


def turn_on(ben):
    page = ben.page
    ben.phone.go("settings/notifications", "Notifications")
    page.get_by_role("switch", name="Notifications").check()
    page.get_by_role("switch", name="MARKER-OURS").check()
    page.get_by_text("The notification names that member").wait_for()
    ben.phone.check()
    ben.phone.picture("vault-notifications")


def renames(ben, id, name):
    """Ben's phone writes the name of a member; locked before and afterwards."""
    tab = CompanionTab(ben.phone)
    tab.do(RENAME, [id, name])
    tab.sent()
    tab.do("() => window.v.companion.lock()")
    tab.page.close()


def test_a_partners_moment_and_comment_are_shown_while_locked(shared):
    anna, ben, tab, service = shared
    page = ben.page
    turn_on(ben)
    has_push(tab)
    ben.phone.lock()
    anna.add("SECRET-TITLE", 3)
    eventually_equals(lambda: len(service.messages), 1, "one push for one moment")
    assert "SECRET-TITLE" not in service.messages[0]
    title = "Anna's phone added a moment"
    assert ben.deliver(service.messages[0]) == [title, "Open AppLocker to see it.", False]
    anna.do(COMMENT, "SECRET-COMMENT")
    eventually_equals(lambda: len(service.messages), 2, "one push for one comment")
    assert "SECRET-COMMENT" not in service.messages[1]
    assert ben.deliver(service.messages[1])[0] == "Anna's phone responded to a moment"
    # A tap opens the vault, whichever moments were shown last.
    tab.page.close()
    ben.context.service_workers[0].evaluate(CLICK)
    eventually(lambda: page.evaluate("() => location.hash.startsWith('#/moments?vault=')"), lambda: page.url)
    ben.phone.unlock()
    ben.phone.confirm()
    page.get_by_text("SECRET-TITLE").first.wait_for()
    assert page.get_by_role("button", name="MARKER-OURS").get_attribute("aria-pressed") == "true"
    # In quiet hours it makes no sound, and a kind that is turned off shows nothing of it.
    ben.phone.inside("await companion.settings.set('quietHours', { isOn: true, from: '00:00', to: '24:00' });")
    assert ben.deliver(service.messages[0]) == [title, "Open AppLocker to see it.", True]
    ben.phone.inside("await companion.settings.set('noticeKinds', { moment: false });")
    assert ben.deliver(service.messages[0]) == NOTHING
    assert ben.deliver(service.messages[1])[0] == "Anna's phone responded to a moment"


def test_a_moment_that_a_computer_adds_is_shown(shared, programs, neighbours, tmp_path):
    anna, ben, tab, service = shared
    turn_on(ben)
    has_push(tab)
    with computer_without_household(programs, tmp_path / "den", neighbours.port) as computer:
        joined(anna, computer)
        has_members(tab, ANNA, BEN, HOST)
        ben.phone.lock()
        computer.expect("moments", "add", "SECRET-TITLE", "--vault", NAME)
        eventually_equals(lambda: len(service.messages), 1, "one push for one moment")
        assert "SECRET-TITLE" not in service.messages[0]
        assert ben.deliver(service.messages[0]) == [f"{HOST} added a moment", "Open AppLocker to see it.", False]


def test_nothing_else_can_be_said_by_a_notice(shared):
    anna, ben, tab, service = shared
    turn_on(ben)
    has_push(tab)
    anna.add("Another", 3)
    eventually_equals(lambda: len(service.messages), 1, "one push for one moment")
    notice = json.loads(service.messages[0])
    own, id = tab.do(OWN_NOTICE), tab.do(OWN_ID)
    # Unlocked and visible, AppLocker clears notifications by itself.
    ben.phone.lock()
    # Somebody who joined since this phone was open has no name here; of another vault nothing is shown.
    member = ["A member of a shared vault added a moment", "Open AppLocker to see it.", False]
    assert ben.deliver(json.dumps({**notice, "author": "0" * 32})) == member
    assert ben.deliver(json.dumps({**notice, "vault": "0" * 32})) == NOTHING
    for change in (
        {"vault": "__proto__"},
        {"collection": "notes"},
        {"revision": 2},
        {"digest": ""},
        {"digest": 1},
        {"signature": "AAAA"},
    ):
        assert ben.deliver(json.dumps({**notice, **change})) == GENERAL, change
    # What another phone of the same person adds is not shown.
    assert ben.deliver(own) == NOTHING
    # A member that takes another's name makes both be shown with a part of their ids.
    renames(ben, id, "anna's \u202ephone")
    assert ben.deliver(service.messages[0])[0] == f"Anna's phone ({notice['author'][:4]}) added a moment"
    # What it writes as another one's name counts for nothing.
    renames(ben, notice["author"], "Victim")
    assert ben.deliver(service.messages[0])[0] == "A member of a shared vault added a moment"


def test_a_vault_that_is_turned_off_leaves_no_key_and_shows_nothing(shared):
    anna, ben, tab, service = shared
    assert tab.do(KEYS) == 0, "no key is stored before"
    turn_on(ben)
    has_push(tab)
    assert tab.do(KEYS) == 1
    anna.add("Another", 3)
    eventually_equals(lambda: len(service.messages), 1, "one push for one moment")
    ben.page.get_by_role("switch", name="MARKER-OURS").uncheck()
    eventually(lambda: not tab.do(HAS_PUSH), "the hub has no address of the vault's member")
    assert tab.do(KEYS) == 0
    # The phone learns later that the hub removed the address.
    eventually_equals(lambda: tab.do(NOTICES), {}, "nothing is kept")
    ben.page.get_by_role("switch", name="MARKER-OURS").check()
    has_push(tab)
    tab = a_vault_that_is_turned_off_without_the_hub_is_ended_there_later(ben, tab)
    turning_all_notifications_off_ends_those_of_vaults(ben, tab)
    # This phone leaves the vault: nothing that names it remains.
    tab.do("async () => window.v.companion.vaults.leave((await window.v.ours()).id)")
    assert tab.do(NOTICES) == {}
    ben.phone.lock()
    assert ben.deliver(service.messages[0]) == NOTHING


def a_vault_that_is_turned_off_without_the_hub_is_ended_there_later(ben, tab):
    """Begins and ends with notifications of the vault; returns another tab, which is unlocked."""
    page = ben.page
    page.route("**/v1/push", lambda route: route.abort())
    page.get_by_role("switch", name="MARKER-OURS").uncheck()
    eventually(lambda: tab.do(KEYS) == 0, "no key is stored")
    assert tab.do(HAS_PUSH) is True
    page.unroute("**/v1/push")
    ben.phone.lock()
    ben.phone.unlock()
    tab.page.close()
    tab = CompanionTab(ben.phone)
    nothing_remains(tab)
    ben.phone.go("settings/notifications", "Notifications")
    page.get_by_role("switch", name="MARKER-OURS").check()
    has_push(tab)
    return tab


def turning_all_notifications_off_ends_those_of_vaults(ben, tab):
    """Begins and ends with notifications of the vault."""
    ben.page.get_by_role("switch", name="Notifications").uncheck()
    nothing_remains(tab)
    # Until then its own switch still shows what was before.
    ben.page.get_by_role("switch", name="MARKER-OURS").wait_for(state="hidden")
    ben.page.get_by_role("switch", name="Notifications").check()
    ben.page.get_by_role("switch", name="MARKER-OURS").check()
    has_push(tab)


def has_push(tab):
    eventually(lambda: tab.do(HAS_PUSH), "the hub has the address of the vault's member")


def nothing_remains(tab):
    eventually(lambda: not tab.do(HAS_PUSH), "the hub has no address of the vault's member")
    assert tab.do(KEYS) == 0
    eventually_equals(lambda: tab.do(NOTICES), {}, "nothing is kept")
