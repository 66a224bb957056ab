"""Special dates, and the day that two people count from: in the vault, the same on every device."""

import pytest

import clock
from moment_steps import opened
from vault_steps import share
from waiting import eventually, eventually_equals

# As (name, day, yearly): `add` in days from today.
ADD = """async ([companion, name, days, yearly]) => {
    const day = new Date(Date.now() + days * 864e5 - new Date().getTimezoneOffset() * 6e4).toISOString().slice(0, 10);
    await (await companion.dates()).save(null, { name, day, yearly });
}"""
ADDED = f"return ({ADD})([companion, ...arg]);"
LISTED = """async () => {
    const { together, dates, hidden, unreadable } = await (await (await window.v.ours()).companion.dates()).list();
    return [together?.day ?? null, dates.map(({ name }) => name).sort(), hidden, unreadable];
}"""
OURS_ADD = f"async (arg) => ({ADD})([(await window.v.ours()).companion, ...arg])"
SET = "async (day) => (await (await window.v.ours()).companion.dates()).setTogether(day)"
# Writes a record of the vault's dates with any bytes, as a member with another program can; returns their places.
FORGE = """async (bodies) => {
    const { companion } = await window.v.ours();
    const { randomID, utf8 } = await import("/crypto/bytes.js");
    const { sharedVaultID } = await import("/household/shared-keys.js");
    const vault = await sharedVaultID(companion.device.keys.household);
    return companion.editor.exclusive(async (keys) => {
        const waiting = await Promise.all(bodies.map(async (body) => {
            const name = { vault, collection: "dates", id: randomID(), revision: 1 };
            const bytes = utf8(typeof body === "string" ? body : JSON.stringify(body));
            return { key: `dates/${name.id}`, record: await keys.sealBody(name, bytes, 0) };
        }));
        await companion.editor.commit({ waiting });
        return waiting.map(({ record: { id } }) => ({ id, vault }));
    });
}"""
REMOVE = """async (places) => {
    const dates = await (await window.v.ours()).companion.dates();
    for (const place of places) await dates.remove(place);
}"""


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_date_is_added_changed_removed_and_restored(phone):
    page = opened(phone, "moments", "Everline")
    phone.go("settings/everline", "Everline")
    page.get_by_role("button", name="Add a date").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("A date needs a name.").wait_for()
    page.get_by_label("Name").fill("Anna’s birthday")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Choose a day.").wait_for()
    page.get_by_label("Day", exact=True).fill("1990-02-29")
    page.get_by_label("Day", exact=True).fill("1992-02-29")
    phone.picture("dates-add")
    phone.check()
    page.get_by_role("button", name="Save", exact=True).click()
    row = page.get_by_role("button", name="Anna’s birthday")
    row.wait_for()
    assert "Every year, next" in row.inner_text()
    row.click()
    page.get_by_label("Name").fill("Journey to Lisbon")
    page.get_by_label("Day", exact=True).fill("2001-05-17")
    page.get_by_role("switch", name="Every year").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    row = page.get_by_role("button", name="Journey to Lisbon")
    row.wait_for()
    assert row.inner_text().endswith("over")
    phone.picture("dates-list")
    phone.check()
    phone.becomes("dark")
    phone.picture("dates-list")
    row.click()
    with clock.paused(page, ahead=10):
        page.get_by_role("button", name="Remove this date").click()
        row.wait_for(state="detached")
        page.get_by_role("button", name="Undo").click()
    row.wait_for()


@pytest.mark.computer_is_off
def test_home_and_the_timeline_show_what_is_today_and_next(phone):
    page = phone.page
    for one in (["Our wedding day", -3660, True], ["MARKER-birthday", 3, True], ["Far away", 200, False]):
        phone.inside(ADDED, one)
    phone.inside(ADDED, ["MARKER-today", 0, False])
    # Before the PIN was confirmed again, Home names none of them.
    page.get_by_text("1 special date in Everline.").wait_for()
    assert "MARKER" not in page.content()
    page.get_by_role("link", name="Open Everline").click()
    phone.confirm("Open your moments")
    page.get_by_role("heading", name="On this day").wait_for()
    page.get_by_text("MARKER-today").wait_for()
    phone.check()
    phone.picture("dates-timeline")
    phone.go("home", "Home")
    page.get_by_text("In 3 days: MARKER-birthday").wait_for()
    page.get_by_text("MARKER-today").wait_for()
    assert page.get_by_text("Far away").count() == 0
    phone.check()
    for theme in ("light", "dark"):
        phone.becomes(theme)
        phone.picture("dates-home")
    phone.lock()
    assert "MARKER" not in page.content()
    found = page.evaluate("""async () => {
        const { everythingIn, find } = await import("/tests/fake-moments.js");
        const everything = await everythingIn("applocker");
        return [everything.length > 10_000, find(everything, new TextEncoder().encode("MARKER"))];
    }""")
    assert found == [True, -1]


@pytest.mark.computer_is_off
def test_the_day_of_an_earlier_version_moves_into_the_vault_once(phone):
    moved = """
        const dates = await companion.dates();
        return [(await dates.list()).together?.day ?? null, await companion.privateStorage.get("together")];"""
    phone.inside("await companion.privateStorage.set('together', '2019-06-01');")
    assert phone.inside(moved) == ["2019-06-01", None]
    # Another device's earlier day does not replace it, also after it was removed.
    phone.inside("await (await companion.dates()).setTogether(null);")
    phone.inside("await companion.privateStorage.set('together', '2001-01-01');")
    assert phone.inside(moved) == [None, None]
    phone.inside("await (await companion.dates()).setTogether('2020-02-29');")
    assert phone.inside(moved) == ["2020-02-29", None]


def test_two_members_see_the_same_dates_and_add_at_once(anna, ben):
    share(anna, ben)
    both = ((anna, "of Anna"), (ben, "of Ben"))
    for one, _ in both:
        assert one.do(LISTED) == [None, [], 0, 0]
        one.context.set_offline(True)
    for one, name in both:
        one.do(OURS_ADD, [name, 3, True])
    for one, _ in both:
        one.context.set_offline(False)
        one.phone.online_again()
    anna.do(SET, "2019-06-01")
    for one in (anna, ben):
        eventually_equals(lambda one=one: one.do(LISTED), ["2019-06-01", ["of Anna", "of Ben"], 0, 0])
    # A later change of the same day reaches the other one too.
    ben.do(SET, "2020-02-29")
    eventually_equals(lambda: anna.do(LISTED)[0], "2020-02-29")
    ben.do(SET, None)
    eventually_equals(lambda: anna.do(LISTED)[0], None)


def test_a_members_invalid_or_countless_dates_hide_no_date_of_another(anna, ben):
    share(anna, ben)
    for count in range(20):
        anna.do(OURS_ADD, [f"Anna {count}", count, False])
    anna.sent()
    good = {"name": "x", "day": "2020-01-01", "yearly": True}
    bad = [
        "not JSON",
        [],
        {**good, "day": "2023-02-30"},
        {**good, "day": "0001-01-01"},
        {**good, "name": ""},
        {**good, "name": "x" * 81},
        {**good, "name": "left\u202eright"},
        {**good, "yearly": "yes"},
        {**good, "name": {"toString": 1}},
    ]
    invalid = ben.do(FORGE, bad)
    ben.sent()
    eventually(lambda: anna.do(LISTED)[3] == len(bad), "the invalid ones are counted")
    assert len(anna.do(LISTED)[1]) == 20
    ben.do(FORGE, [{**good, "name": f"Ben {count}"} for count in range(200)])
    ben.sent()
    eventually(lambda: anna.do(LISTED)[2] > 100, "some are not shown")
    names = anna.do(LISTED)[1]
    assert len([name for name in names if name.startswith("Anna")]) == 20 and len(names) <= 50
    # Without the invalid ones as many are shown as a vault may have: one more is refused.
    ben.do(REMOVE, invalid)
    ben.sent()
    eventually_equals(lambda: len(anna.do(LISTED)[1]), 50, "the dates that are shown")
    assert len([name for name in anna.do(LISTED)[1] if name.startswith("Anna")]) == 20
    refused = anna.do("""async () => (await (await window.v.ours()).companion.dates())
        .save(null, { name: "More", day: "2020-01-01", yearly: true }).catch(({ code }) => code)""")
    assert refused == "full"


def test_a_shared_vaults_dates_are_set_and_shown_on_both_phones(anna, ben):
    share(anna, ben)
    anna.do(OURS_ADD, ["Ours", 0, False])
    eventually_equals(lambda: ben.do(LISTED)[1], ["Ours"])
    page = ben.phone.open_page()
    page.goto(ben.phone.address)
    ben.phone.page = page
    ben.phone.unlock()
    page.get_by_text("1 special date in Everline.").wait_for()
    ben.phone.go("settings/everline", "Everline")
    ben.phone.confirm("Open your moments")
    page.get_by_role("button", name="MARKER-OURS").click()
    page.get_by_role("button", name="Ours").last.wait_for()
    page.get_by_text("All members of this vault see the same day.").wait_for()
    page.get_by_role("heading", name="Photos and backups").wait_for()
    ben.phone.check()
    ben.phone.picture("dates-shared")
    ben.phone.go("home", "Home")
    page.get_by_text("MARKER-OURS").first.wait_for()
