"""Reminders: a real hub pushes at a time that the phone chose, and the locked phone's real worker shows what the phone
sealed for itself."""

import contextlib
import json
import sqlite3
import time

import pytest

from notified_phone import CLICK, GENERAL, NOTHING, NotifiedPhone
from phone import PIN
from push_service import push_service
from vault_steps import Person, joins
from waiting import eventually, eventually_equals

DECOY = "904417"
DAY = "new Date(Date.now() + days * 864e5 - new Date().getTimezoneOffset() * 6e4).toISOString().slice(0, 10)"
# As (name, days): from today.
ADD = f"""const [name, days] = arg; const day = {DAY};
    await (await companion.dates()).save(null, {{ name, day, yearly: true }});"""
REMOVE_ALL = """const dates = await companion.dates();
    for (const date of (await dates.list()).dates) await dates.remove(date);"""
# A moment of this day, four years ago: 29 February had one too.
REMEMBER = """const date = new Date(); date.setFullYear(date.getFullYear() - 4);
    await companion.moments.save(null, { title: "SECRET-MOMENT", words: "", date: date.getTime() / 1000 });"""
OURS_ADD = f"""async ([name, days]) => {{
    const {{ companion }} = await window.v.ours();
    await (await companion.dates()).save(null, {{ name, day: {DAY}, yearly: false }});
}}"""
ONE = ["A special date today", "Open AppLocker to see it.", False]


class Reminded(NotifiedPhone):
    def __init__(self, new_context, hub, stored, service):
        super().__init__(new_context, hub, stored, service)
        self.hub, self.service = hub, service
        self.phone.go("settings/notifications", "Notifications")
        self.page.get_by_role("switch", name="Notifications").check()
        self.page.get_by_label("Time of day").fill("23:59")

    def database(self):
        return contextlib.closing(sqlite3.connect(self.hub.folder / "hub/hub.sqlite", timeout=20))

    def scheduled(self):
        """The hub's reminders of this phone: the list, and the time; the earliest first."""
        with self.database() as database:
            rows = database.execute("SELECT list, due, content FROM reminder ORDER BY due, list").fetchall()
        assert all(len(content) == 44 for _, _, content in rows)
        return [(list_, due) for list_, due, _ in rows]

    def has(self, count, why):
        eventually(lambda: len(self.scheduled()) == count, lambda: f"{why}: {self.scheduled()}")

    def all_are_due(self, count):
        """The time of every reminder comes; returns the messages that the hub sends then."""
        before = len(self.service.messages)
        self.hub.stop_hub()
        with self.database() as database:
            database.execute("UPDATE reminder SET due = ? + due / 86400 % 60", [int(time.time()) - 100])
            database.commit()
        self.hub.start_hub()
        eventually(lambda: len(self.service.messages) == before + count, lambda: str(self.service.messages))
        assert self.scheduled() == []
        return self.service.messages[before:]


@pytest.fixture
def reminded(new_whole_context, neighbours):
    with push_service() as service, neighbours.hub("--allow-private-push") as hub:
        reminded = Reminded(new_whole_context, hub, neighbours.ben, service)
        yield reminded
        reminded.phone.quiet()


def test_a_locked_phone_shows_that_there_is_a_special_date(reminded):
    phone, page = reminded.phone, reminded.page
    phone.inside(ADD, ["SECRET-DATE", 0])
    reminded.has(1, "one day has a date")
    midnight = page.evaluate("() => new Date().setHours(23, 59, 0, 0) / 1000")
    assert [due for _, due in reminded.scheduled()] == [midnight]
    phone.lock()
    [message] = reminded.all_are_due(1)
    assert list(json.loads(message)) == ["reminder"]
    assert reminded.deliver(message) == ONE
    for fact, value, shown in [
        ("quietHours", {"isOn": True, "from": "00:00", "to": "24:00"}, [*ONE[:2], True]),
        ("guise", "calculator", ["Calculator", "Open the app to see it.", True]),
        ("noticeKinds", {"date": False}, NOTHING),
    ]:
        phone.inside("await companion.settings.set(...arg);", [fact, value])
        if fact == "noticeKinds":
            phone.inside("await companion.settings.set('guise', 'applocker');")
        assert reminded.deliver(message) == shown
    phone.inside("await companion.settings.set('noticeKinds', {});")
    # What this device did not seal.
    sealed = json.loads(message)["reminder"]
    changed = ("B" if sealed[0] == "A" else "A") + sealed[1:]
    for foreign in ("", "AAAA", "?", changed):
        assert reminded.deliver(json.dumps({"reminder": foreign})) == GENERAL
    # A tap opens Everline.
    reminded.deliver(message)
    reminded.context.service_workers[0].evaluate(CLICK)
    eventually_equals(lambda: page.evaluate("() => location.hash"), "#/moments", "Everline is opened")


def test_several_dates_and_earlier_moments_are_one_notification(reminded):
    phone, page = reminded.phone, reminded.page
    phone.inside(REMEMBER)
    phone.inside(ADD, ["SECRET-ONE", 0])
    reminded.has(1, "one day has a date")
    page.get_by_role("switch", name="On this day").check()
    phone.inside(ADD, ["SECRET-TWO", 0])
    # Of another day: the hub sends it too early.
    phone.inside(ADD, ["SECRET-TOMORROW", 1])
    phone.inside(ADD, ["Too far away", 90])
    reminded.has(2, "two days have something")
    phone.go("home", "Home")
    phone.go("settings/notifications", "Notifications")
    page.get_by_text("The hub learns on which days").scroll_into_view_if_needed()
    phone.check()
    phone.picture("reminders")
    phone.becomes("dark")
    phone.picture("reminders")
    phone.lock()
    messages = reminded.all_are_due(2)
    shown = sorted(reminded.deliver(message) for message in messages)
    assert shown == [["2 special dates today", "On this day: moments of earlier years.", False], NOTHING]


def test_what_is_turned_off_or_removed_is_not_sent(reminded):
    phone, page = reminded.phone, reminded.page
    phone.inside(ADD, ["A", 2])
    reminded.has(1, "the date")
    for name in ("Special dates", "Notifications"):
        page.get_by_role("switch", name=name).uncheck()
        reminded.has(0, f"{name} is off")
        page.get_by_role("switch", name=name).check()
        reminded.has(1, f"{name} is on again")
    [(_, before)] = reminded.scheduled()
    page.get_by_label("Time of day").fill("08:30")
    eventually(lambda: [due for _, due in reminded.scheduled()] == [before - 15 * 3600 - 29 * 60], "the other time")
    # The hub lost it, as one that was restored: it is sent again with the next unlock.
    with reminded.database() as database:
        database.execute("DELETE FROM reminder")
        database.commit()
    phone.lock()
    phone.unlock()
    reminded.has(1, "it is sent again")
    phone.inside(REMOVE_ALL)
    reminded.has(0, "the date is removed")
    phone.inside(ADD, ["B", 2])
    reminded.has(1, "another date")
    phone.inside("await companion.remove().catch(() => {}); companion.report = async () => ({ waiting: 0 });")
    reminded.has(0, "the phone has left")


def test_a_decoy_session_keeps_a_list_of_its_own(reminded):
    phone = reminded.phone
    phone.inside(ADD, ["SECRET-DATE", 3])
    reminded.has(1, "the real date")
    [(real, _)] = reminded.scheduled()
    phone.inside("await companion.decoy.set(arg);", DECOY)
    phone.lock()
    phone.unlock(DECOY)
    phone.inside(ADD, ["harmless", 3], pin=DECOY)
    reminded.has(2, "the date of the decoy's vault")
    lists = [list_ for list_, _ in reminded.scheduled()]
    assert real in lists and len(set(lists)) == 2
    phone.inside(REMOVE_ALL, pin=DECOY)
    eventually_equals(lambda: [list_ for list_, _ in reminded.scheduled()], [real], "the real date stays")
    # Nothing of the decoy's reminders stays when its PIN is removed.
    phone.inside(ADD, ["harmless", 4], pin=DECOY)
    reminded.has(2, "another one of the decoy's")
    phone.lock()
    phone.unlock(PIN)
    phone.inside("await companion.decoy.remove();")
    eventually_equals(lambda: [list_ for list_, _ in reminded.scheduled()], [real], "the real date stays")


def test_a_shared_vaults_date_is_shown_on_the_partners_phone(reminded, new_context, neighbours):
    anna = Person(new_context, reminded.hub, neighbours.anna)
    anna.do("async () => { await window.v.companion.vaults.create('OURS'); }")
    link = anna.do("""async () => {
        window.v.invited = await (await window.v.ours()).membership.invite();
        return window.v.invited.link;
    }""")
    guest = reminded.page
    guest.evaluate(
        """async (pin) => {
        const { Companion } = await import("/session/companion.js");
        const companion = await Companion.open();
        await companion.unlockWithPIN(pin);
        window.v = { companion };
    }""",
        PIN,
    )
    assert "id" in joins(anna, Joining(guest), link)[1]
    guest.evaluate("() => window.v.companion.close()")
    anna.do(OURS_ADD, ["SECRET-OURS", 0])
    anna.sent()
    reminded.has(1, "the date of the shared vault")
    reminded.phone.lock()
    [message] = reminded.all_are_due(1)
    assert reminded.deliver(message) == ONE
    anna.phone.quiet()


class Joining:
    """The page of a phone that joins a vault."""

    def __init__(self, page):
        self.do = page.evaluate
