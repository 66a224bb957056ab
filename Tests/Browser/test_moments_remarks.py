"""Comments and reactions on the screens of Everline: as notes to oneself, and with the members of a shared vault."""

import re

import pytest

from moment_steps import kept, named, opened
from phone import Phone
from vault_steps import CompanionTab, Person, joins, share
from waiting import eventually_equals

LAKE = ["The lake", "cold water", 3, "calm", "Zürich", [[640, 480]], False]
WORDS = ["Only words", "", 4, "", None, [], False]


def shown(page, name):
    named(page, name).click()
    page.locator(".remarks").wait_for()
    return page.locator(".remarks")


def write(page, text):
    page.get_by_label("Your comment", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()
    page.locator(".remark", has_text=text).wait_for()
    eventually_equals(page.get_by_label("Your comment", exact=True).input_value, "", "the field is empty")


@pytest.mark.computer_is_off
def test_an_own_vault_has_comments_as_notes_to_oneself(phone):
    kept(phone, [LAKE, WORDS])
    page = opened(phone)
    remarks = shown(page, "The lake")
    # Nothing but one button before there is any.
    assert remarks.get_by_role("button").all_inner_texts() == ["Add a comment"]
    phone.picture("remarks-none")
    remarks.get_by_role("button", name="Add a comment").click()
    assert page.get_by_label("Your comment", exact=True).evaluate("(node) => node === document.activeElement")
    send = page.get_by_role("button", name="Send")
    assert send.is_disabled()
    page.get_by_label("Your comment", exact=True).fill(" \n ")
    assert send.is_disabled()
    write(page, "<b>The boat</b> was blue.\nWe should go again.")
    # The next one is written at once: Enter must not become a reaction.
    assert page.get_by_label("Your comment", exact=True).evaluate("(node) => node === document.activeElement")
    assert page.get_by_label("Your comment", exact=True).get_attribute("maxlength") == "2000"
    write(page, "x" * 2000)
    heart = remarks.get_by_role("button", name="Love")
    heart.click()
    remarks.locator("[aria-pressed=true]").wait_for()
    assert remarks.locator(".remark b, .remark-author").count() == 0
    phone.check()
    page.locator(".remark").last.get_by_role("button", name="Delete this comment").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    eventually_equals(lambda: page.locator(".remark").count(), 1, "comments")
    phone.picture("remarks-own")
    # The timeline counts them.
    phone.go("moments", "Everline")
    card = page.get_by_role("link", name="1 comment, 1 reaction")
    card.wait_for()
    assert "The lake" in card.inner_text() and "comment" not in (named(page, "Only words").get_attribute("aria-label"))
    phone.check()
    phone.picture("remarks-timeline")
    card.click()
    page.locator(".remark", has_text="The boat").wait_for()
    remarks.get_by_role("button", name="Love, 1: You").click()
    eventually_equals(lambda: remarks.locator("[aria-pressed=true]").count(), 0, "own reactions")
    # What is typed is not lost by accident.
    page.get_by_label("Your comment", exact=True).fill("half a sentence")
    phone.go("home")
    page.get_by_role("button", name="Discard").wait_for()
    page.get_by_role("button", name="Cancel").click()
    assert page.get_by_label("Your comment", exact=True).input_value() == "half a sentence"
    # Arrow keys are a dialog's until the frame after its end.
    page.locator("dialog").wait_for(state="detached")
    remarks.get_by_role("button", name="Love").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Discard").wait_for()
    page.get_by_role("button", name="Cancel").click()
    assert page.get_by_label("Your comment", exact=True).input_value() == "half a sentence"
    page.get_by_role("button", name="Send").click()
    page.locator(".remark", has_text="half a sentence").wait_for()
    # In the trash they are read, not written.
    page.get_by_role("button", name="Delete this moment").click()
    page.get_by_role("heading", name="Everline", level=1).wait_for()
    phone.go("moments/trash", "Trash")
    page.get_by_role("link", name="The lake").click()
    page.locator(".remark", has_text="The boat").wait_for()
    assert page.locator(".remark-form:visible, .remark-delete, .remark-reaction:visible").count() == 0
    phone.check()


@pytest.mark.computer_is_off
def test_another_pin_opens_no_remarks_and_removing_it_erases_its_own(phone):
    decoy = "904417"
    write_one = """
        const moment = await companion.moments.save(null, { title: arg, words: "", date: 1715961600, photos: [] });
        const remarks = await companion.moments.remarks();
        await remarks.comment(moment, `MARKER-${arg}`);
        await remarks.react(moment, "heart", true);"""
    read = """
        const index = await (await companion.moments.remarks()).index();
        return index.moments.flatMap((id) => index.all({ id })).map(({ kind, text }) => text ?? kind).sort();"""
    phone.inside(write_one, "real")
    phone.inside("await companion.decoy.set(arg);", decoy)
    phone.inside(write_one, "decoy", pin=decoy)
    assert phone.inside(read) == ["MARKER-real", "heart"]
    assert phone.inside(read, pin=decoy) == ["MARKER-decoy", "heart"]
    sealed = """return (await companion.device.storedAll("remarks")).filter(({ record }) => record.sealed).length;"""
    assert phone.inside(sealed) == 4
    phone.inside("await companion.decoy.remove();")
    assert phone.inside(sealed) == 2
    assert phone.inside(read) == ["MARKER-real", "heart"]


def test_two_people_comment_on_their_screens(new_context, neighbours, hub):
    anna = Phone(new_context, hub).begin(neighbours.anna)
    hidden = CompanionTab(anna)
    ben = Person(new_context, hub, neighbours.ben)
    hidden.do("async () => { await window.v.companion.vaults.create('Ours'); }")
    assert "id" in joins(hidden, ben)[1]
    hidden.add("By the lake", 1)
    ben.sees(["By the lake"])
    ben.do("""async () => {
        const { companion } = await window.v.ours();
        const { moments: [moment] } = await companion.moments.list();
        window.v.moment = moment;
        const remarks = await companion.moments.remarks();
        await remarks.comment(moment, "I remember the cold.");
        for (const kind of ["heart", "thanks"]) await remarks.react(moment, kind, true);
    }""")
    ben.sent()
    hidden.page.close()
    page = opened(anna)
    page.get_by_role("button", name="Ours").click()
    card = page.get_by_role("link", name="1 comment, 2 reactions")
    card.wait_for()
    anna.picture("remarks-shared-timeline")
    card.click()
    page.locator(".remark", has_text="Ben's phone").wait_for()
    assert page.locator(".remark-delete").count() == 0, "another's comment can't be deleted"
    page.get_by_role("button", name="Love, 1: Ben's phone").click()
    page.get_by_role("button", name="Love, 2").wait_for()
    write(page, "And I the lamps.")
    assert page.locator(".remark-author").all_inner_texts() == ["Ben's phone", "You"]
    # The comment is drawn again once it is sent.
    page.locator(".remark-waiting").wait_for(state="detached")
    for theme in ("light", "dark"):
        anna.becomes(theme)
        page.locator(".remark").last.scroll_into_view_if_needed()
        anna.picture("remarks-shared")
    anna.check()
    ben.until(
        """async () => {
        const remarks = await (await window.v.ours()).companion.moments.remarks();
        return (await remarks.index()).shown(window.v.moment).comments.length === 2;
    }""",
        "Anna's comment arrives",
    )
    page.evaluate("document.documentElement.style.fontSize = '310%'")
    page.set_viewport_size({"width": 320, "height": 640})
    page.locator(".remark").last.scroll_into_view_if_needed()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 320
    anna.picture("remarks-large")
    sizes = page.evaluate("""() => [...document.querySelectorAll(".remarks button:not([hidden])")]
        .map((node) => node.getBoundingClientRect()).map(({ width, height }) => Math.min(width, height))""")
    assert sizes and min(sizes) >= 44, sizes


SIGNAL = "{ signal: new AbortController().signal }"
BACKED_UP = """async (companion) => {
    const { writeMomentBackup } = await import("/features/backup/moment-backup.js");
    const pieces = [];
    await writeMomentBackup(companion, "four words in a row", (bytes) => void pieces.push(new Blob([bytes])), SIGNAL);
    return new Blob(pieces);
}""".replace("SIGNAL", SIGNAL)
RESTORED = """async (companion, file) => {
    const { openMomentBackup, changesOf, restoreMoments } = await import("/features/backup/moment-restore.js");
    const backup = await openMomentBackup(file, "four words in a row");
    const { problem, failed } = await restoreMoments(companion, backup, await changesOf(companion, backup), SIGNAL);
    const index = await (await companion.moments.remarks()).index();
    const { moments } = await companion.moments.list();
    return [problem, failed, backup.others, moments.flatMap((moment) => index.all(moment))
        .map(({ kind, text, from }) => [kind, text ?? null, from ?? null]).sort()];
}""".replace("SIGNAL", SIGNAL)


@pytest.mark.computer_is_off
def test_remarks_are_exported_erased_and_restored_with_their_moment(phone):
    comments, reactions, data, page_of_export, left, restored = phone.inside(f"""
        const lake = {{ title: "Lake", words: "", date: 1715961600, offset: 0, photos: [] }};
        const moment = await companion.moments.save(null, lake);
        const remarks = await companion.moments.remarks();
        await remarks.comment(moment, "<i>cold</i>");
        await remarks.react(moment, "wow", true);
        const file = await ({BACKED_UP})(companion);
        const {{ planExport }} = await import("/features/backup/moment-export.js");
        const {{ timelinePage, momentsData }} = await import("/features/backup/moment-pages.js");
        const plan = await planExport(companion, {{}}, {SIGNAL});
        const [data] = JSON.parse(momentsData(plan.moments, 0)).moments;
        const {{ resetMoments }} = await import("/features/backup/moment-reset.js");
        await resetMoments(companion, {SIGNAL});
        const sealed = (await companion.device.storedAll("remarks")).filter(({{ record }}) => record.sealed).length;
        return [data.comments, data.reactions, data.title, timelinePage(plan.moments), sealed,
            await ({RESTORED})(companion, file)];""")
    assert [one["text"] for one in comments] == ["<i>cold</i>"] and reactions == [{"kind": "wow"}] and data == "Lake"
    assert "&lt;i&gt;cold" in page_of_export and "<i>" not in page_of_export
    # Of the moment and of the comment, without a leading zero, as everywhere in the companion.
    times = re.findall(r"([\d:]+)\s[AP]M", page_of_export)
    assert len(times) == 2 and times[0] == "4:00" and not times[1].startswith("0"), times
    assert left == 0
    assert restored == [None, 0, 0, [["comment", "<i>cold</i>", None], ["wow", None, None]]]


def test_restored_remarks_of_another_member_name_their_author(anna, ben):
    share(anna, ben)
    for one in (anna, ben):
        one.do("""async () => {
            const { companion } = await window.v.ours();
            const { moments: [moment] } = await companion.moments.list({ search: "MARKER-by-anna" });
            const remarks = await companion.moments.remarks();
            await remarks.comment(moment, `by ${companion.device.paired.name}`);
            await remarks.react(moment, "heart", true);
        }""")
        one.sent()
    eventually_equals(
        lambda: anna.do("async () => (await (await window.v.ours()).companion.device.store.records('remarks')).length"),
        4,
    )
    # Into Anna's own vault: the words of both stay, a reaction of Ben would be Anna's.
    restored = anna.do(f"""async () => {{
        const {{ companion }} = await window.v.ours();
        return ({RESTORED})(window.v.companion, await ({BACKED_UP})(companion));
    }}""")
    assert restored == [
        None,
        0,
        0,
        [["comment", "by Anna's phone", None], ["comment", "by Ben's phone", "Ben's phone"], ["heart", None, None]],
    ]
