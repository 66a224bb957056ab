"""One moment that two devices changed without knowing of each other: both versions are kept, shown and put together by hand."""

import time

from app import DESKTOP, PIN, eventually
from moment_steps import KEPT, PAINTER, beside, opened

HARBOUR = ["The harbour", "We saw the boats.\nIt rained.", "calm", "Honfleur", [[900, 600]], False]

# Beside the page's own companion, so that it can write while the hub is away: `second`.
KEPT_OPEN = """async (pin) => {
    const { Companion } = await import("/core/companion.js");
    window.second?.close();
    window.second = await Companion.open();
    await second.unlockWithPIN(pin);
}"""

EDITED = PAINTER + """
    const [id, change, seed] = given;
    const moment = await companion.moments.read(id);
    const photos = seed ? [...moment.photos, await companion.pictures.seal(await paint(seed, 640, 480))] : moment.photos;
    await companion.moments.save(moment, { ...moment, ...change, photos });
"""

ALL = """
    const of = ({ id, title, words, photos, mood, place }) => ({ id, title, words, mood, place: place?.name ?? "", photos: photos.length });
    return { here: (await companion.moments.list()).moments.map(of), trash: (await companion.moments.list({ trash: true })).moments.map(of) };
"""


def two_versions(phone, desk):
    """Both begin with the same; the phone writes while it is offline, the desk meanwhile. Gives the moment's id."""
    [moment] = beside(phone, KEPT, {"seed": 3, "moments": [[HARBOUR[0], HARBOUR[1], time.time() - 3600, *HARBOUR[2:]]]})
    eventually(lambda: any(one["id"] == moment for one in beside(desk, ALL)["here"]), "at the desk")
    phone.page.evaluate(KEPT_OPEN, PIN)
    phone.context.set_offline(True)
    phone.page.evaluate("async (given) => { const companion = second; BODY }".replace("BODY", EDITED),
                        [moment, {"words": "We saw the boats.\nYou found a shell.", "mood": "love"}, 50])
    beside(desk, EDITED + "\n    for (let round = 0; round < 50 && (await companion.device.store.waiting()).length > 0; round += 1) await new Promise((done) => setTimeout(done, 100));",
           [moment, {"title": "The old harbour", "words": "We saw the boats.\nIt rained and we laughed."}, 60])
    time.sleep(0.5)
    phone.context.set_offline(False)
    phone.page.evaluate("() => window.dispatchEvent(new Event('online'))")
    return moment


def erased(phone):
    beside(phone, """
        for (const moment of [...(await companion.moments.list()).moments, ...(await companion.moments.list({ trash: true })).moments]) await companion.moments.erase(moment);""")


def test_two_versions_are_shown_and_put_together_by_hand(phone, _):
    page = opened(phone)
    desk = phone.another(DESKTOP, name="Desk")
    desk.pair()
    opened(desk)
    for end in ("merge", "first", "other", "both"):
        moment = two_versions(phone, desk)
        page.get_by_text("Two versions").nth(1).wait_for(timeout=30_000)
        # Neither is called a conflict.
        assert page.locator(".moment-card", has_text="(conflict").count() == 0
        if end == "merge":
            phone.check()
            phone.picture("moments-two-versions")
        phone.go(f"moments/{moment}")
        page.get_by_text("Both versions are kept").wait_for()
        page.get_by_role("button", name="See both").click()
        first = page.get_by_role("region", name="The version that came first")
        other = page.get_by_role("region", name="The version of Anna's phone")
        first.get_by_text("It rained and we laughed").wait_for()
        other.get_by_text("You found a shell").wait_for()
        if end == "merge":
            page.locator(".moment-version .moment-photo[data-shown]").nth(3).wait_for()
            phone.check()
            phone.picture("moment-two-versions")
            desk.go(f"moments/{moment}")
            desk.page.get_by_role("button", name="See both").click()
            desk.page.locator(".moment-version .moment-photo[data-shown]").nth(3).wait_for()
            desk.check()
            desk.picture("moment-two-versions")
            desk.go("home", "Home")
            page.get_by_role("button", name="Put together by hand").click()
            assert page.get_by_label("Words").input_value() == "We saw the boats.\nIt rained and we laughed.\n\nYou found a shell."
            assert page.locator(".moment-pick-photo").count() == 3, "one of both, one of each"
            page.locator(".moment-pick-photo[data-shown]").nth(2).wait_for()
            phone.check()
            phone.picture("moment-merge")
            page.locator(".moment-radio").nth(1).check()
            page.get_by_label("Keep photo 3").uncheck()
            page.get_by_label("Words").fill("Boats, rain, a shell.")
            page.get_by_role("button", name="Save", exact=True).click()
        elif end == "first":
            first.get_by_role("button", name="Keep only this one").click()
        elif end == "other":
            other.get_by_role("button", name="Keep only this one").click()
        else:
            page.get_by_role("button", name="Keep both").click()
        page.get_by_text("Both versions are kept").wait_for(state="detached")
        page.locator(".moment-headline").wait_for()
        found = beside(phone, ALL)
        told = sorted((one["title"], one["words"], one["mood"], one["photos"]) for one in found["here"])
        mine = ("The harbour", "We saw the boats.\nYou found a shell.", "love", 2)
        theirs = ("The old harbour", "We saw the boats.\nIt rained and we laughed.", "calm", 2)
        thrown = [one["words"] for one in found["trash"]]
        if end == "merge":
            assert told == [("The old harbour", "Boats, rain, a shell.", "love", 2)], told
            assert sorted(thrown) == sorted([mine[1], theirs[1]]), "nothing is lost"
            assert next(one for one in found["here"])["id"] == moment
        elif end == "first":
            assert told == [theirs] and thrown == [mine[1]], found
        elif end == "other":
            assert told == [mine] and sorted(thrown) == sorted([mine[1], theirs[1]]), found
        else:
            assert told == sorted([theirs, ("The harbour (from Anna's phone)", *mine[1:])]) and thrown == [], found
        # The other device has the same.
        eventually(lambda: beside(desk, ALL)["here"] == found["here"], "the same at the desk")
        phone.go("moments", "Everline")
        erased(phone)
        page.get_by_text("Begin your story here").wait_for()
    page.evaluate("() => second.close()")
    desk.quiet()
    desk.close()


def test_what_another_tab_does_is_seen_here(phone, _):
    page = phone.page
    [moment] = beside(phone, KEPT, {"seed": 3, "moments": [["A shared day", "", time.time() - 3600, "", "", [[900, 600]], False]]})
    page.locator(".moment-card", has_text="A shared day").wait_for()
    other = phone.open_page()
    other.goto(phone.address + f"/#/moments/{moment}")
    tab = type("Tab", (), {"page": other})
    phone.page, before = other, phone.page
    phone.unlock()
    other.get_by_role("heading", name="Open your moments").wait_for()
    phone.type_pin()
    phone.page = before
    assert tab.page is other
    other.get_by_role("heading", name="A shared day").wait_for()
    other.get_by_role("button", name="Favourite").click()
    page.locator(".moment-card .moment-heart").wait_for()
    other.get_by_role("button", name="Delete this moment").click()
    page.get_by_text("Begin your story here").wait_for()
    other.get_by_role("button", name="Undo").click()
    page.locator(".moment-card", has_text="A shared day").wait_for()
    other.close()


def test_a_moment_that_is_gone_says_so(phone, _):
    page = phone.page
    phone.go("moments/00000000000000000000000000000000")
    page.get_by_text("This moment can’t be shown").wait_for()
    phone.check()
    phone.go("moments", "Everline")
