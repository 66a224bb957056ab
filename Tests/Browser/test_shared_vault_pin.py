"""A shared vault with a PIN of its own: unlocking AppLocker does not open it, and the hub counts its wrong PINs."""

import pytest

from founding_steps import new_phone, recovers, with_everline
from phone import PIN
from vault_steps import OPEN, SAVE, TITLES, joins, share
from waiting import eventually_equals, eventually_reported

VAULT_PIN, OTHER_PIN = "402817", "573926"
ENTRY = """async () => {
    const [entry] = await window.v.companion.privateStorage.get("vaults");
    return entry;
}"""
SET = """async (pin) => {
    const { vaults } = window.v.companion;
    window.v.id = (await vaults.list())[0].id;
    await (await vaults.pins()).set(window.v.id, pin);
}"""
OPENED = """async (pin) => {
    const { vaults } = window.v.companion;
    const id = (await vaults.locked())[0].id;
    return (await vaults.pins()).unlock(id, pin).then(() => "opened", ({ code, name, message, retryAfterSeconds }) =>
        ({ code: code ?? name, message, retryAfterSeconds }));
}"""
# The name and the code of the error.
TRY_TO_SET = f"async (pin) => ({SET})(pin).then(() => 'set', ({{ name, code }}) => [name, code])"
STATE = """async () => {
    const { vaults } = window.v.companion;
    const names = (all) => all.map(({ name }) => name);
    return { open: names(await vaults.list()), locked: names(await vaults.locked()) };
}"""
LOCKED = {"open": [], "locked": ["MARKER-OURS"]}
OPEN_NOW = {"open": ["MARKER-OURS"], "locked": []}
# Everything that the main session has: its keys, and what is sealed beside them.
ATTACK = """async () => {
    const { unbase64url } = await import("/crypto/bytes.js");
    const { openDrawers } = await import("/crypto/drawers.js");
    const { KeySlots } = await import("/crypto/slots.js");
    const { CompanionStore } = await import("/store/store.js");
    const { companion } = window.v;
    const [entry] = await companion.privateStorage.get("vaults");
    const store = await CompanionStore.open(() => {}, entry.database);
    try {
        const drawers = await store.fact("drawers", null);
        const { slots } = await store.fact("gate", null);
        const known = [companion.device.keys.rootKey, companion.device.paired.deviceSecret,
            unbase64url(entry.deviceSecret), unbase64url(entry.token),
            ...companion.device.keys.ring.entries.map(({ key }) => key)];
        const found = [];
        for (const key of known.filter(({ length }) => length === 32)) {
            if (await openDrawers(drawers, key.slice())) found.push("a drawer");
            if (await KeySlots.read(slots).open(key.slice())) found.push("a key slot");
        }
        return { found, tried: known.length, statusKeys: (await store.statusKeys()).length };
    } finally {
        store.close();
    }
}"""


def relock(one):
    one.do(
        """async (pin) => {
        window.v.companion.lock();
        await window.v.companion.unlockWithPIN(pin);
    }""",
        PIN,
    )


def test_the_vault_stays_locked_until_its_pin_opens_it(anna, ben):
    share(anna, ben)
    anna.do(SET, VAULT_PIN)
    assert anna.do(STATE) == LOCKED, "it is open after its PIN was set"
    relock(anna)
    assert anna.do(STATE) == LOCKED
    entry = anna.do(ENTRY)
    assert "rootKey" not in entry and entry["deviceSecret"], entry.keys()
    attack = anna.do(ATTACK)
    assert attack["found"] == [] and attack["tried"] > 4 and attack["statusKeys"] == 0, attack
    # Both go on meanwhile.
    ben.add("written while it is locked", 3, None)
    ben.sent()
    assert anna.do(OPENED, PIN)["code"] == "wrongPIN"
    assert anna.do("async () => (await (await window.v.companion.vaults.pins()).state(window.v.id)).failures") == 1
    assert anna.do("async () => (await window.v.companion.pinState()).failures") == 0, "the app's own count"
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    assert anna.do(STATE) == OPEN_NOW
    anna.sees(["MARKER-by-anna", "MARKER-by-ben", "written while it is locked"])
    anna.add("by anna, afterwards", 4, None)
    ben.sees(["MARKER-by-anna", "MARKER-by-ben", "by anna, afterwards", "written while it is locked"])
    # Closed alone, and with AppLocker.
    anna.do("() => window.v.companion.vaults.lock(window.v.id)")
    assert anna.do(STATE) == LOCKED
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    relock(anna)
    assert anna.do(STATE) == LOCKED
    # A locked one is forgotten, and its database removed.
    databases = "async () => (await indexedDB.databases()).length"
    before = anna.do(databases)
    anna.do("() => window.v.companion.vaults.forget(window.v.id)")
    assert anna.do(STATE) == {"open": [], "locked": []} and anna.do(databases) == before - 1


def test_nothing_of_it_remains_in_memory_after_it_is_locked(anna, ben):
    share(anna, ben)
    anna.do(
        "async () => { window.v.held = (await window.v.ours()).companion; window.v.keys = window.v.held.device.keys; }"
    )
    anna.do(SET, VAULT_PIN)
    remains = anna.do("""async () => {
        const { held, keys } = window.v;
        const codes = [];
        for (const read of [() => held.moments.list(), () => held.privateStorage.get("momentDrafts")]) {
            codes.push(await read().then(() => "read", ({ code }) => code));
        }
        return { codes, root: keys.rootKey.some(Boolean), ring: keys.ring.entries.length, state: held.state };
    }""")
    assert remains == {"codes": ["locked", "locked"], "root": False, "ring": 0, "state": "locked"}


def test_the_hub_counts_wrong_pins_and_the_fifth_waits(anna, ben):
    share(anna, ben)
    anna.do(SET, VAULT_PIN)
    for _ in range(4):
        assert anna.do(OPENED, OTHER_PIN)["code"] == "wrongPIN"
    waits = anna.do(OPENED, OTHER_PIN)
    assert waits["code"] == "wait" and 0 < waits["retryAfterSeconds"] <= 60, waits
    assert anna.do(OPENED, VAULT_PIN)["code"] == "wait", "the right PIN doesn't wait"
    relock(anna)
    assert anna.do(STATE) == LOCKED


def test_the_pin_is_changed_and_removed(anna, ben):
    share(anna, ben)
    for weak in (PIN, "123456"):
        assert anna.do(TRY_TO_SET, weak) == ["CompanionError", "weakPIN"]
    assert anna.do(STATE) == OPEN_NOW
    anna.do(SET, VAULT_PIN)
    anna.do(OPENED, VAULT_PIN)
    anna.do(SET, OTHER_PIN)
    assert anna.do(STATE) == OPEN_NOW, "changing the PIN locks the vault"
    relock(anna)
    assert anna.do(OPENED, VAULT_PIN)["code"] == "wrongPIN", "the old PIN opens it"
    assert anna.do(OPENED, OTHER_PIN) == "opened"
    confirm = """async (pin) => (await window.v.companion.vaults.pins()).confirm(window.v.id, pin)
        .then(() => "right", ({ code }) => code)"""
    assert [anna.do(confirm, pin) for pin in (VAULT_PIN, OTHER_PIN)] == ["wrongPIN", "right"]
    anna.do("async () => (await window.v.companion.vaults.pins()).remove(window.v.id)")
    assert anna.do(STATE) == OPEN_NOW
    relock(anna)
    assert anna.do(STATE) == OPEN_NOW, "it needs a PIN after that was removed"
    entry = anna.do(ENTRY)
    assert entry["rootKey"] and "deviceSecret" not in entry
    # The hub has the entry of the earlier PIN, and accepts another one.
    anna.do(SET, VAULT_PIN)
    relock(anna)
    assert anna.do(OPENED, OTHER_PIN)["code"] == "wrongPIN"
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    anna.sees(["MARKER-by-anna", "MARKER-by-ben"])


@pytest.mark.parametrize("cut", ["households", "pin-share", "pin-share/attempt", "answer"])
def test_an_interrupted_attempt_leaves_no_pin_and_the_next_one_works(anna, ben, cut):
    """The hub can't be reached for one of the three requests; or the page is closed before it answers the last one."""
    share(anna, ben)
    page = anna.page
    if cut == "answer":
        held = []
        page.route("**/v1/pin-share/attempt", lambda route: held.append(route))
        anna.do(f"(pin) => {{ ({TRY_TO_SET})(pin); }}", VAULT_PIN)
        eventually_reported(page, lambda: held, "the PIN is tried at the hub")
    else:
        page.route(f"**/v1/{cut}", lambda route: route.abort())
        assert anna.do(TRY_TO_SET, VAULT_PIN) == ["HubUnreachable", "offline"]
        assert anna.do(STATE) == OPEN_NOW
        anna.sees(["MARKER-by-anna", "MARKER-by-ben"])
    # Before its requests are let through: the answer to the one that is held would reach it.
    page.reload()
    page.unroute_all(behavior="ignoreErrors")
    anna.do(OPEN, PIN)
    assert anna.do(STATE) == OPEN_NOW, "it can't be opened without a PIN that was not set"
    anna.sees(["MARKER-by-anna", "MARKER-by-ben"])
    anna.do(SET, OTHER_PIN)
    page.reload()
    anna.do(OPEN, PIN)
    assert anna.do(STATE) == LOCKED
    assert anna.do(OPENED, VAULT_PIN)["code"] == "wrongPIN"
    assert anna.do(OPENED, OTHER_PIN) == "opened"
    anna.sees(["MARKER-by-anna", "MARKER-by-ben"])
    # What the interrupted attempt left at the hub was removed.
    counters = "async () => (await (await window.v.ours()).companion.privateStorage.get('pinTokens')).length"
    assert anna.do(counters) == 1


def test_an_interrupted_change_leaves_one_of_both_pins(anna, ben):
    share(anna, ben)
    anna.do(SET, VAULT_PIN)
    anna.do(OPENED, VAULT_PIN)
    anna.page.route("**/v1/pin-share/replace", lambda route: route.abort())
    assert anna.do(TRY_TO_SET, OTHER_PIN) == ["HubUnreachable", "offline"]
    anna.page.unroute_all(behavior="ignoreErrors")
    anna.page.reload()
    anna.do(OPEN, PIN)
    assert anna.do(OPENED, OTHER_PIN)["code"] == "wrongPIN"
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    # With it open, the next change settles which one is valid.
    anna.do("async () => { window.v.id = (await window.v.ours()).id; }")
    anna.do(SET, OTHER_PIN)
    relock(anna)
    assert anna.do(OPENED, OTHER_PIN) == "opened"


def test_another_tab_locks_it_too_and_opens_it_by_itself(anna, ben):
    share(anna, ben)
    page = anna.context.new_page()
    page.goto(anna.page.url)
    page.evaluate(OPEN, PIN)
    eventually_equals(lambda: page.evaluate(STATE), OPEN_NOW)
    anna.do(SET, VAULT_PIN)
    eventually_equals(lambda: page.evaluate(STATE), LOCKED, "the PIN locks it in each tab")
    assert page.evaluate(OPENED, VAULT_PIN) == "opened"
    assert anna.do(STATE) == LOCKED, "one tab's PIN opens it in another tab"
    page.evaluate("() => { window.v.photos = []; }")
    page.evaluate(SAVE, ["by the other tab", 5])
    ben.sees(["MARKER-by-anna", "MARKER-by-ben", "by the other tab"])
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    anna.sees(["MARKER-by-anna", "MARKER-by-ben", "by the other tab"])
    # Locked, changed and removed in one tab.
    page.evaluate("async () => window.v.companion.vaults.lock((await window.v.ours()).id)")
    eventually_equals(lambda: anna.do(STATE), LOCKED, "“Lock this vault” locks it in each tab")
    anna.do(OPENED, VAULT_PIN)
    anna.do("async () => (await window.v.companion.vaults.pins()).remove(window.v.id)")
    eventually_equals(lambda: page.evaluate(STATE), OPEN_NOW, "without a PIN each tab opens it")
    assert page.evaluate(TITLES) == anna.do(TITLES)


def test_a_device_that_was_removed_while_it_was_locked_still_opens_what_it_has(anna, ben):
    share(anna, ben)
    own = anna.do("async () => (await window.v.ours()).companion.device.keys.device")
    anna.do(SET, VAULT_PIN)
    ben.do("async (id) => (await window.v.ours()).membership.remove(id)", own)
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    anna.until("async () => (await window.v.ours()).isRevoked", "it shows that it was removed")
    anna.sees(["MARKER-by-anna", "MARKER-by-ben"])


def test_what_lists_the_vaults_works_beside_a_locked_one(anna, ben):
    """The revocation of a device names it; a locked phone's reminders have no day of it, open or not."""
    share(anna, ben)
    reminders = """async () => {
        const { remindersOf } = await import("/features/notifications/reminders.js");
        return (await remindersOf(window.v.companion)).length;
    }"""
    anna.do("""async () => {
        const day = new Date(window.v.companion.now() + 3 * 86_400_000).toISOString().slice(0, 10);
        await (await (await window.v.ours()).companion.dates()).save(null, { name: "Ours", day, yearly: false });
    }""")
    assert anna.do(reminders) == 1
    anna.do(SET, VAULT_PIN)
    assert anna.do(reminders) == 0
    revoked = """async () => {
        const { revokeDevice } = await import("/features/devices/revoke-device.js");
        for await (const { part, name, outcome } of revokeDevice(window.v.companion, null, "0".repeat(32))) {
            return [part, name, outcome];
        }
    }"""
    assert anna.do(revoked) == ["vault", "MARKER-OURS", "unclear"]
    assert anna.do(OPENED, VAULT_PIN) == "opened"
    assert anna.do(revoked) == ["vault", "MARKER-OURS", "notIn"]
    assert anna.do(reminders) == 0


def test_an_invitation_replaces_a_locked_copy(anna, ben):
    """As after its PIN was forgotten."""
    share(anna, ben)
    ben.do(SET, VAULT_PIN)
    databases = "async () => (await indexedDB.databases()).length"
    before = ben.do(databases)
    assert "id" in joins(anna, ben)[1]
    assert ben.do(STATE)["open"] and ben.do(STATE)["locked"] == []
    ben.sees(["MARKER-by-anna", "MARKER-by-ben"])
    assert ben.do(databases) == before
    relock(ben)
    ben.sees(["MARKER-by-anna", "MARKER-by-ben"])


def test_a_phone_that_is_offline_gets_one_error_and_the_list_stays(anna, ben):
    share(anna, ben)
    anna.do(SET, VAULT_PIN)
    anna.context.set_offline(True)
    assert anna.do(OPENED, VAULT_PIN)["code"] == "offline"
    assert anna.do(STATE) == LOCKED
    anna.context.set_offline(False)
    assert anna.do(OPENED, VAULT_PIN) == "opened"


SPARES = """
    const [vault] = await companion.vaults.list();
    if (!vault) return null;
    return (await vault.membership.members()).map(({ name, spareOf }) => (spareOf ? "spare" : name)).sort().join();"""
NAMES_HERE = """
    const names = (all) => all.map(({ name }) => name).join();
    return [names(await companion.vaults.list()), names(await companion.vaults.locked())];"""


def test_in_a_household_of_phones_nothing_goes_round_the_pin(new_context, phone_hub):
    """Neither another phone nor the recovery sheet, which otherwise become members by the spare member."""
    hub = phone_hub()
    anna, _, sheet = with_everline(new_context, hub)
    anna.inside("await companion.vaults.create('Ours');")
    eventually_equals(lambda: anna.inside(SPARES), "Anna's phone,spare", "the spare member")
    desk = recovers(new_phone(new_context, hub, "Anna's desk"), sheet)
    eventually_equals(lambda: desk.inside(NAMES_HERE), ["Ours", ""], "another phone joins by it")
    anna.inside(
        """
        const [{ id }] = await companion.vaults.list();
        await (await companion.vaults.pins()).set(id, arg);""",
        VAULT_PIN,
    )
    assert anna.inside(NAMES_HERE) == ["", "Ours"]
    # The other phone, which opens the vault without a PIN, makes no spare member either.
    eventually_equals(lambda: desk.inside(SPARES), "Anna's desk,Anna's phone", "no spare member")
    third = recovers(new_phone(new_context, hub, "Third"), sheet)
    assert third.inside(NAMES_HERE) == ["", ""]
    vaults = 'return (await companion.device.storedAll("vaults")).length;'
    eventually_equals(lambda: third.inside(vaults), 1, "the record of the vault")
    kept = third.inside("""
        const { listKept } = await import("/features/vaults/spare.js");
        return (await listKept(companion.device)).length;""")
    assert kept == 0, "it knows a secret of the vault"
    # Once it has no PIN, a new spare member admits that phone.
    anna.inside(
        """
        const [{ id }] = await companion.vaults.locked();
        const pins = await companion.vaults.pins();
        await pins.unlock(id, arg);
        await pins.remove(id);""",
        VAULT_PIN,
    )
    eventually_equals(lambda: third.inside(NAMES_HERE), ["Ours", ""], "the third phone joins")
    assert anna.inside(NAMES_HERE) == ["Ours", ""]
    for one in (anna, desk, third):
        one.quiet()
