"""One moment of Everline: its photos, its text, its neighbours, deleting and restoring it."""

import base64

import pytest

from moment_steps import ANIMATION, kept, named, opened, timeline
from touch import finger
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off

HARBOUR = ["The little harbour", "We stayed until the lamps came on.", 1, "calm", "Honfleur", [[300, 225]], True]
LETTER = [
    "",
    "I never told you how much that letter meant to me. It is still in the drawer, next to the tickets from the first "
    "concert.\nI read it again today.",
    3,
    "love",
    "",
    [],
    False,
]
SNOW = ["First snow", "", 40, "joy", "", [], False]


def birthday(*sizes):
    return [
        "Anna’s birthday",
        "Thirty candles and not one of us could sing.",
        9,
        "funny",
        "Grandmother’s garden",
        sizes,
        False,
    ]


def test_a_moment_shows_its_photos_side_by_side(phone):
    kept(phone, [birthday([900, 1200], [1200, 900], [1000, 1000]), LETTER])
    page = opened(phone)
    named(page, "Anna").click()
    page.get_by_role("heading", name="Anna’s birthday").wait_for()
    assert page.title().startswith("Moment"), "the title, which browsers store, contains the moment's name"
    slides = page.locator(".moment-slide")
    assert slides.count() == 3
    # The small picture is shown until the large one is loaded.
    slides.first.locator(".moment-slide-large[data-shown]").wait_for()
    slides.first.locator(".moment-slide-small[src]").wait_for()
    eventually_equals(
        lambda: slides.nth(0).evaluate("(node) => node.querySelector('.moment-slide-small').naturalWidth"),
        240,
        "the width of the small picture",
    )
    assert slides.nth(0).evaluate("(node) => node.querySelector('.moment-slide-large').naturalWidth") == 900
    phone.check()
    for theme in ("dark", "light"):
        phone.becomes(theme)
        phone.picture("moment")
    page.locator(".moment-slides").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("2 of 3").wait_for()
    page.keyboard.press("End")
    page.get_by_text("3 of 3").wait_for()
    slides.nth(2).locator(".moment-slide-large[data-shown]").wait_for()
    # Two pictures are loaded: the last one and the one before it.
    eventually_equals(page.locator(".moment-slide-large[src]").count, 2)
    assert page.locator(".moment-dot-here").count() == 1
    page.evaluate("document.querySelector('.moment-slides').scrollTo({ left: 0 })")
    page.get_by_text("1 of 3").wait_for()


def test_a_photo_can_be_zoomed(phone):
    [moment] = kept(phone, [birthday([300, 400], [400, 300], [300, 300])])
    page = opened(phone, f"moments/{moment}")
    page.get_by_role("button", name="Zoom photo 1 of 3").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    phone.check()
    phone.picture("moment-closely")
    page.locator(".moment-view-stage").dblclick()
    assert "scale(2.5)" in page.locator(".moment-view-picture").get_attribute("style")
    page.locator(".moment-view-stage").dblclick()
    page.keyboard.press("ArrowRight")
    page.locator(".moment-view-place", has_text="2 of 3").wait_for()
    page.locator(".moment-view-large[data-shown]").wait_for()
    page.keyboard.press("Escape")
    page.locator(".moment-view").wait_for(state="detached")
    page.locator(".moment-count", has_text="2 of 3").wait_for()


# A moment with an animation and a still PNG; of both the file is kept. The page notes what it reads of files
# that can be animated.
WITH_ANIMATION = """
    const { createPicture } = await import("/tests/fake-moments.js");
    const { unbase64 } = await import("/crypto/bytes.js");
    const { MomentPhotos } = await import("/features/moments/moment-photos.js");
    const photos = [];
    for (const content of [unbase64(arg), await createPicture(300, 200, 20, "image/png")]) {
        photos.push(await companion.momentPhotos.seal(new Blob([content]), { keepsOriginal: true }));
    }
    const real = MomentPhotos.prototype.opened;
    window.fetched = [];
    MomentPhotos.prototype.opened = async function (...args) {
        const opened = await real.apply(this, args);
        if (opened.type === "image/jpeg") return opened;
        const noted = (name) => async (...args) => {
            const bytes = await opened[name](...args);
            fetched.push([opened.type, name, bytes.length]);
            return bytes;
        };
        return { ...opened, chunk: noted("chunk"), whole: noted("whole") };
    };
    return (await companion.moments.save(null, { title: "", words: "", date: 1e9, photos })).id;
"""


def test_an_animation_moves_full_screen_unless_less_motion_is_asked_for(phone):
    moment = phone.inside(WITH_ANIMATION, base64.b64encode(ANIMATION).decode())
    page = opened(phone, f"moments/{moment}")
    zoom = page.get_by_role("button", name="Zoom photo 1 of 2")

    def fetched():
        return page.evaluate("() => window.fetched")

    # The tests' browsers ask for less motion. An animation would be requested before the still picture is shown.
    zoom.click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    assert fetched() == []
    page.keyboard.press("Escape")
    page.locator(".moment-view").wait_for(state="detached")
    page.emulate_media(reduced_motion="no-preference")
    zoom.click()
    page.locator(".moment-view-moving[data-shown]").wait_for()
    gif = [["image/gif", "chunk", len(ANIMATION)], ["image/gif", "whole", len(ANIMATION)]]
    assert fetched() == gif
    assert page.locator(".moment-view-large").evaluate("(image) => getComputedStyle(image).opacity") == "0"
    phone.check()
    page.keyboard.press("ArrowRight")
    eventually_equals(lambda: [one[:2] for one in fetched()[len(gif) :]], [["image/png", "chunk"]], "a still PNG")
    assert page.locator(".moment-view-moving[src]").count() == 0


PRESS_TWICE = """(heart) => {
    const pressed = () => heart.getAttribute("aria-pressed");
    window.pressed = [pressed()];
    new MutationObserver(() => pressed() === window.pressed.at(-1) || window.pressed.push(pressed()))
        .observe(heart, { attributes: true });
    heart.click();
    heart.click();
}"""


def test_a_moment_becomes_a_favourite_and_leads_to_its_neighbours(phone):
    _, moment, _ = kept(phone, [LETTER, birthday(), SNOW])
    page = opened(phone, f"moments/{moment}")
    page.get_by_role("heading", name="Anna’s birthday").wait_for()
    heart = page.get_by_role("button", name="Favourite")
    assert heart.get_attribute("aria-pressed") == "false"
    heart.click()
    page.locator(".moment-favour[aria-pressed=true]").wait_for()
    heart.evaluate(PRESS_TWICE)
    eventually_equals(lambda: page.evaluate("() => window.pressed"), ["true", "false", "true"], "one after another")
    page.locator(".moment-neighbour", has_text="Older").click()
    page.get_by_role("heading", name="First snow").wait_for()
    page.locator(".moment-neighbour", has_text="Newer").click()
    page.get_by_role("heading", name="Anna’s birthday").wait_for()
    timeline(phone)
    assert named(page, "Anna").locator(".moment-heart").count() == 1
    named(page, "I never told").click()
    page.get_by_text("I read it again today").wait_for()
    phone.check()
    phone.picture("moment-words")


def test_a_deleted_moment_is_restored_by_undo_or_from_the_trash(phone):
    kept(phone, [HARBOUR, LETTER, birthday()])
    page = opened(phone)
    named(page, "The little harbour").click()
    page.get_by_role("button", name="Delete this moment").click()
    page.get_by_text("Moment and 1 photo moved to the trash").wait_for()
    page.locator(".moment-timeline").wait_for()
    assert named(page, "The little harbour").count() == 0
    page.get_by_role("button", name="Undo").click()
    named(page, "The little harbour").wait_for()
    for name in ("The little harbour", "I never told"):
        named(page, name).click()
        page.get_by_role("button", name="Delete this moment").click()
        page.locator(".moment-timeline").wait_for()
    page.get_by_role("button", name="More of Everline").click()
    phone.picture("moments-more")
    page.get_by_role("button", name="Trash").click()
    page.get_by_role("heading", name="Trash", level=1).wait_for()
    assert page.locator(".moment-trash-row").count() == 2
    page.get_by_text("30 days left").first.wait_for()
    page.locator(".moment-trash-photo[data-shown]").wait_for()
    phone.check()
    phone.picture("moments-trash")
    page.get_by_role("link", name="The little harbour").click()
    page.get_by_text("This moment is in the trash").wait_for()
    phone.check()
    page.get_by_role("button", name="Back", exact=True).click()
    page.get_by_role("button", name="Restore The little harbour").click()
    page.get_by_text("was restored").wait_for()
    page.get_by_role("button", name="Restore The little harbour").wait_for(state="detached")
    erase = page.get_by_role("button", name="Erase", exact=False).filter(has_text="Erase now")
    erase.click()
    page.get_by_text("This can’t be undone").wait_for()
    phone.picture("moments-erase")
    page.get_by_role("button", name="Cancel").click()
    assert page.locator(".moment-trash-row").count() == 1
    erase.click()
    page.get_by_role("button", name="Erase", exact=True).click()
    page.get_by_text("The trash is empty").wait_for()
    phone.check()
    timeline(phone)
    named(page, "The little harbour").wait_for()
    assert named(page, "I never told").count() == 0


def test_a_press_on_restore_is_not_lost_when_another_moment_arrives(phone):
    [moment] = kept(phone, [LETTER])
    phone.inside("await companion.moments.remove(await companion.moments.read(arg));", moment)
    page = opened(phone, f"moments/{moment}")
    page.get_by_role("button", name="Restore").hover()
    page.mouse.down()
    kept(phone, [SNOW])
    page.mouse.up()
    page.get_by_role("button", name="Delete this moment").wait_for()


def test_a_missing_moment_is_reported(phone):
    page = opened(phone, "moments/00000000000000000000000000000000")
    page.get_by_text("This moment can’t be shown").wait_for()
    phone.check()


def test_a_swipe_and_the_arrow_keys_show_the_neighbours(phone):
    _, moment, _ = kept(phone, [LETTER, birthday(), SNOW])
    page = opened(phone, f"moments/{moment}")
    links = page.locator(".moment-neighbours a")
    newer, older = [links.nth(index).get_attribute("href") for index in (0, 1)]
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(wanted) => location.hash === wanted", arg=older)
    page.locator(f".moment-neighbour-back[href='#/moments/{moment}']").wait_for()
    finger(page, ".moment-side", (100, 300), (220, 305))
    page.wait_for_function("(wanted) => location.hash === wanted", arg=f"#/moments/{moment}")
    page.locator(f".moment-neighbour-back[href='{newer}']").wait_for()
    # A finger that scrolls is no swipe.
    finger(page, ".moment-side", (220, 500), (140, 300))
    finger(page, ".moment-side", (100, 300), (220, 305))
    page.wait_for_function("(wanted) => location.hash === wanted", arg=newer)


def test_back_from_a_photo_stays_at_the_moment_to_which_arrow_keys_led(phone):
    _, moment = kept(phone, [birthday([300, 300]), birthday([400, 300])])
    page = opened(phone, "moments")
    # The sheet has closed before the moments are open.
    page.locator(f"a[href='#/moments/{moment}']").first.wait_for()
    page.evaluate("(moment) => { location.hash = `#/moments/${moment}`; }", moment)
    zoom = page.get_by_role("button", name="Zoom photo")
    zoom.click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    page.keyboard.press("Escape")
    page.locator(".moment-view").wait_for(state="detached")
    link = page.locator(".moment-neighbours a")
    other = link.get_attribute("href")
    page.locator("h1").focus()
    page.keyboard.press("ArrowLeft" if "moment-neighbour-back" in link.get_attribute("class") else "ArrowRight")
    page.wait_for_function("(wanted) => location.hash === wanted", arg=other)
    page.locator(f".moment-neighbours a[href='#/moments/{moment}']").wait_for()
    zoom.click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    page.go_back()
    page.locator(".moment-view").wait_for(state="detached")
    page.wait_for_function("(wanted) => location.hash === wanted", arg=other)
    page.locator(f".moment-neighbours a[href='#/moments/{moment}']").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Everline", level=1).wait_for()


def test_a_tap_hides_what_is_over_a_photo_and_a_swipe_down_closes_it(phone):
    [moment] = kept(phone, [birthday([300, 400], [400, 300])])
    page = opened(phone, f"moments/{moment}")
    page.get_by_role("button", name="Zoom photo 1 of 2").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    assert page.locator(".moment-view-large").get_attribute("alt").startswith("Photo 1 of 2, Anna’s birthday, ")
    finger(page, ".moment-view-stage", (200, 300))
    page.locator(".moment-view-bare").wait_for()
    finger(page, ".moment-view-stage", (200, 300))
    page.locator(".moment-view-bare").wait_for(state="detached")
    finger(page, ".moment-view-stage", (200, 200), (205, 280), (205, 360))
    page.locator(".moment-view").wait_for(state="detached")


SHARES_FILES = """() => {
    const media = matchMedia;
    window.matchMedia = (query) => (query === "(pointer: coarse)" ? { matches: true } : media(query));
    navigator.canShare = () => true;
    navigator.share = async ({ files, text }) => {
        window.shared = [files.map(({ name, type, size }) => [name, type, size > 0]), text];
    };
}"""


def test_a_moment_is_shared_once_the_person_agreed_that_it_leaves(phone):
    [moment] = kept(phone, [birthday([300, 400], [400, 300])])
    page = opened(phone, f"moments/{moment}")
    page.evaluate(SHARES_FILES)
    page.get_by_role("button", name="Share this moment").click()
    page.get_by_text("It leaves AppLocker: the copy is not sealed.").wait_for()
    phone.picture("moment-share")
    phone.check()
    assert page.evaluate("() => window.shared") is None
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("heading", name="Share this moment?").wait_for(state="detached")
    files, text = page.evaluate("() => window.shared")
    assert [one[1:] for one in files] == [["image/jpeg", True], ["image/jpeg", True]], files
    assert [one[0][-6:] for one in files] == ["-1.jpg", "-2.jpg"] and text.startswith("Anna’s birthday"), (files, text)
    page.get_by_role("button", name="Zoom photo 2 of 2").click()
    page.get_by_role("button", name="Share or save this photo").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a copy").click()
    assert download.value.suggested_filename.endswith(".jpg")


def test_a_moment_is_shared_without_a_photo_that_the_hub_has_lost(phone):
    [moment] = kept(phone, [birthday([300, 400], [400, 300])])
    # The page itself reads photos too, in any order.
    lost = phone.inside(
        """
        const { photos: [first] } = await companion.moments.read(arg);
        return (await companion.device.stored("photos", first.id)).record.blobs;""",
        moment,
    )
    page = opened(phone, f"moments/{moment}")
    page.evaluate(SHARES_FILES)

    def lose_first(route):
        blob = route.request.url.rsplit("/", 1)[1]
        # The hub has no blob of this name.
        route.continue_(**({"url": route.request.url.replace(blob, "0" * len(blob))} if blob in lost else {}))

    page.route("**/v1/blobs/*", lose_first)
    page.get_by_role("button", name="Share this moment").click()
    page.get_by_text("1 of 2 photos can’t be opened and will be left out. The hub does not have").wait_for()
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("heading", name="Share this moment?").wait_for(state="detached")
    files, text = page.evaluate("() => window.shared")
    assert [one[1:] for one in files] == [["image/jpeg", True]] and files[0][0].endswith("-2.jpg"), files
    assert text.startswith("Anna’s birthday")
