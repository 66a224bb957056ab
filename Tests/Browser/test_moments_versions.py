"""Two devices change one moment concurrently: both versions are kept, shown and merged by hand. And one tab of a
browser shows another's changes."""

import pytest

from moment_steps import PAINTER, inside_second, kept, named, open_second, opened
from phone import DESKTOP, Phone
from waiting import eventually, eventually_equals

HARBOUR = ["The harbour", "We saw the boats.\nIt rained.", 0.05, "calm", "Honfleur", [[900, 600]], False]

EDITED = (
    PAINTER
    + """
    const [id, change, seed] = arg;
    const moment = await companion.moments.read(id);
    const photos = [...moment.photos];
    if (seed) photos.push(await companion.momentPhotos.seal(await paint(seed, 640, 480)));
    await companion.moments.save(moment, { ...moment, ...change, photos });
"""
)

ALL = """
    const of = ({ id, title, words, photos, mood, place }) =>
        ({ id, title, words, mood, place: place?.name ?? "", photos: photos.length });
    const { moments } = await companion.moments.list();
    const trash = (await companion.moments.list({ trash: true })).moments;
    return { here: moments.map(of), trash: trash.map(of) };
"""

# The versions of the phone and of the desk, as `of` returns them, without identifiers.
MINE = ("The harbour", "We saw the boats.\nYou found a shell.", "love", 2)
THEIRS = ("The old harbour", "We saw the boats.\nIt rained and we laughed.", "calm", 2)


@pytest.fixture
def cached_phone(new_whole_context, neighbours, hub):
    """Its service worker has the app's files while it is offline."""
    phone = Phone(new_whole_context, hub, has_service_worker=True).begin(neighbours.anna)
    yield phone
    phone.quiet()


@pytest.fixture
def desk(new_context, neighbours, hub):
    """Another device of the household."""
    desk = Phone(new_context, hub, DESKTOP).begin(neighbours.cleo)
    opened(desk)
    yield desk
    desk.quiet()


def two_versions(phone, desk):
    """Both start from the same moment; the phone writes while it is offline, the desk meanwhile. Returns the moment's
    identifier; the phone shows the moment."""
    [moment] = kept(phone, [HARBOUR], seed=3)
    eventually(lambda: any(one["id"] == moment for one in desk.inside(ALL)["here"]), "the moment is at the desk")
    open_second(phone)
    phone.context.set_offline(True)
    inside_second(phone, EDITED, [moment, {"words": MINE[1], "mood": "love"}, 50])
    desk.inside(EDITED, [moment, {"title": THEIRS[0], "words": THEIRS[1]}, 60])
    eventually_equals(
        lambda: desk.inside("return (await companion.report()).waiting;"), 0, "the desk's version is at the hub"
    )
    phone.context.set_offline(False)
    phone.online_again()
    page = phone.page
    page.evaluate("() => second.wake()")
    page.get_by_text("Two versions").nth(1).wait_for()
    # Neither version is marked as a conflict.
    assert page.locator(".moment-card", has_text="(conflict").count() == 0
    return moment


def see_both(phone, moment):
    """Returns the two panes."""
    page = phone.page
    phone.go(f"moments/{moment}")
    page.get_by_text("Both versions are kept").wait_for()
    page.get_by_role("button", name="See both").click()
    first = page.get_by_role("region", name="The earlier version")
    other = page.get_by_role("region", name="The version of Anna's phone")
    first.get_by_text("It rained and we laughed").wait_for()
    other.get_by_text("You found a shell").wait_for()
    return first, other


def decided(phone, desk):
    """Returns the result of the choice, which is the same on both devices: moments without identifiers, and the text of
    those in the trash."""
    phone.page.get_by_text("Both versions are kept").wait_for(state="detached")
    phone.page.locator(".moment-headline").wait_for()
    found = phone.inside(ALL)
    eventually_equals(lambda: desk.inside(ALL)["here"], found["here"], "the desk has the same moments")
    return sorted((one["title"], one["words"], one["mood"], one["photos"]) for one in found["here"]), sorted(
        one["words"] for one in found["trash"]
    )


def test_two_versions_are_shown_and_merged_manually(cached_phone, desk):
    phone = cached_phone
    page = opened(phone)
    moment = two_versions(phone, desk)
    phone.check()
    phone.picture("moments-two-versions")
    see_both(phone, moment)
    page.locator(".moment-version .moment-photo[data-shown]").nth(3).wait_for()
    phone.check()
    phone.picture("moment-two-versions")
    desk.go(f"moments/{moment}")
    desk.page.get_by_role("button", name="See both").click()
    desk.page.locator(".moment-version .moment-photo[data-shown]").nth(3).wait_for()
    desk.check()
    desk.picture("moment-two-versions")
    desk.go("home", "Home")
    page.get_by_role("button", name="Merge manually").click()
    assert (
        page.get_by_label("Words").input_value() == "We saw the boats.\nIt rained and we laughed.\n\nYou found a shell."
    )
    assert page.locator(".moment-pick-photo").count() == 3, "the photos to choose from"
    page.locator(".moment-pick-photo[data-shown]").nth(2).wait_for()
    phone.check()
    phone.picture("moment-merge")
    page.locator(".moment-radio").nth(1).check()
    page.get_by_label("Keep photo 3").uncheck()
    page.get_by_label("Words").fill("Boats, rain, a shell.")
    page.get_by_role("button", name="Save", exact=True).click()
    here, trash = decided(phone, desk)
    assert here == [("The old harbour", "Boats, rain, a shell.", "love", 2)], here
    assert trash == sorted([MINE[1], THEIRS[1]]), "a version is missing in the trash"
    assert [one["id"] for one in phone.inside(ALL)["here"]] == [moment]


def test_one_of_two_versions_or_both_are_kept(cached_phone, desk):
    phone = cached_phone
    page = opened(phone)
    for choice in ("first", "other", "both"):
        moment = two_versions(phone, desk)
        first, other = see_both(phone, moment)
        if choice == "both":
            page.get_by_role("button", name="Keep both").click()
        else:
            {"first": first, "other": other}[choice].get_by_role("button", name="Keep only this version").click()
        expected = {
            "first": ([THEIRS], [MINE[1]]),
            "other": ([MINE], sorted([MINE[1], THEIRS[1]])),
            "both": (sorted([THEIRS, ("The harbour (from Anna's phone)", *MINE[1:])]), []),
        }[choice]
        assert decided(phone, desk) == expected, choice
        phone.go("moments", "Everline")
        phone.inside("""
            const [here, trash] = [await companion.moments.list(), await companion.moments.list({ trash: true })];
            for (const moment of [...here.moments, ...trash.moments]) await companion.moments.erase(moment);""")
        page.get_by_text("Begin your story here").wait_for()


@pytest.mark.computer_is_off
def test_changes_in_another_tab_are_shown(phone):
    [moment] = kept(phone, [["A shared day", "", 0.05, "", "", [[900, 600]], False]], seed=3)
    page = opened(phone)
    named(page, "A shared day").wait_for()
    # The steps of `phone` use only one tab.
    other = phone.page = phone.open_page()
    other.goto(phone.address + f"/#/moments/{moment}")
    phone.unlock()
    phone.confirm("Open your moments")
    other.get_by_role("heading", name="A shared day").wait_for()
    other.get_by_role("button", name="Favourite").click()
    page.locator(".moment-card .moment-heart").wait_for()
    other.get_by_role("button", name="Delete this moment").click()
    page.get_by_text("Begin your story here").wait_for()
    other.get_by_role("button", name="Undo").click()
    named(page, "A shared day").wait_for()
