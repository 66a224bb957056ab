"""Everline's timeline: its contents, its search, and its layout."""

import datetime

import pytest

from moment_steps import KEPT, fits, inside_second, kept, named, open_second, opened, row, settled, timeline
from phone import DESKTOP, Phone

pytestmark = pytest.mark.computer_is_off

FIRST = [
    # Title, words, days ago, mood, place, sizes of its photos, favourite.
    [
        "The little harbour",
        "We stayed until the lamps came on, and walked home along the water. You said that we should come back every "
        "year, and I think we will.",
        1,
        "calm",
        "Honfleur",
        [[1200, 900]],
        True,
    ],
    [
        "",
        "I never told you how much that letter meant to me. It is still in the drawer, next to the tickets from the "
        "first concert.\nI read it again today.",
        3,
        "love",
        "",
        [],
        False,
    ],
    [
        "Anna’s birthday",
        "Thirty candles and not one of us could sing.",
        9,
        "funny",
        "Grandmother’s garden",
        [[900, 1200], [1200, 900], [1000, 1000]],
        False,
    ],
    ["First snow", "", 40, "joy", "", [[1200, 800], [800, 1200]], False],
    [
        "Moving day",
        "Forty boxes, one lamp, no curtains. We slept on the floor and it was the best night of the year.",
        41,
        "proud",
        "Rue des Martyrs",
        [[1600, 900], [900, 1200], [1200, 900], [1200, 900], [900, 900], [1200, 900]],
        True,
    ],
]
# Created as fast as possible, for tests that don't check photos.
WITHOUT_PHOTOS = [[*one[:5], [], one[6]] for one in FIRST]
SMALL = [[*one[:5], [[width // 4, height // 4] for width, height in one[5]], one[6]] for one in FIRST]


def years_ago(years):
    """An age in days whose anniversary is today. `years`: a multiple of four, for 29 February."""
    today = datetime.date.today()
    return (today - today.replace(year=today.year - years)).days


def test_an_empty_timeline_offers_to_add_a_moment(phone):
    page = opened(phone)
    page.get_by_text("Begin your story here").wait_for()
    assert page.get_by_role("link", name="Keep a first moment").get_attribute("href") == "#/moments/new"
    phone.check()
    phone.picture("moments-empty")


def test_the_timeline_shows_moments_with_their_photos(phone):
    page = opened(phone)
    kept(phone, FIRST)
    page.locator(".moment-card").nth(2).wait_for()
    page.locator(".moment-photo[data-shown]").nth(2).wait_for()
    assert page.locator(".moment-card").first.get_attribute("aria-label").startswith("The little harbour, ")
    assert page.locator(".moment-card").first.get_attribute("aria-label").endswith("Honfleur, Calm, 1 photo, Favourite")
    assert fits(page) == []
    phone.check()
    for theme in ("dark", "light"):
        phone.becomes(theme)
        phone.picture("moments")
    page.evaluate("scrollTo(0, document.scrollingElement.scrollHeight)")
    page.get_by_text("+2").wait_for()
    named(page, "Moving day").locator(".moment-photo[data-shown]").nth(3).wait_for()
    assert fits(page) == []
    phone.picture("moments-below")


def test_a_long_press_on_a_moment_offers_what_its_page_does(phone):
    page = opened(phone)
    kept(phone, WITHOUT_PHOTOS)
    card = named(page, "First snow")
    card.click(button="right")
    menu = page.get_by_role("dialog")
    menu.get_by_role("heading", name="First snow").wait_for()
    phone.picture("moments-menu")
    phone.check()
    menu.get_by_role("button", name="Add to favourites").click()
    card.locator(".moment-heart").wait_for()
    card.click(button="right")
    page.get_by_role("button", name="Remove from favourites").wait_for()
    page.get_by_role("button", name="Move to the trash").click()
    card.wait_for(state="detached")
    page.get_by_role("button", name="Undo").click()
    card.wait_for()
    card.click(button="right")
    page.get_by_role("button", name="Edit", exact=True).click()
    assert page.get_by_label("Title").input_value() == "First snow"


def test_moments_of_this_day_are_shown_on_top(phone):
    kept(phone, WITHOUT_PHOTOS)
    page = opened(phone)
    page.locator(".moment-card").first.wait_for()
    assert page.get_by_role("heading", name="On this day").count() == 0
    kept(
        phone,
        [
            [
                "Under the chestnut tree",
                "You fell asleep over the third chapter.",
                years_ago(4),
                "",
                "",
                [[900, 1200]],
                False,
            ],
            ["", "We signed the lease.", years_ago(8), "joy", "", [], False],
        ],
        seed=20,
    )
    page.get_by_role("heading", name="On this day").wait_for()
    memories = page.locator(".moment-memory")
    memories.nth(1).wait_for()
    assert memories.count() == 2
    assert memories.nth(0).inner_text().split("\n") == ["4 years ago", "Under the chestnut tree"]
    memories.first.locator("[data-shown]").wait_for()
    phone.check()
    phone.picture("moments-this-day")
    memories.first.click()
    page.get_by_role("heading", name="Under the chestnut tree").wait_for()


def test_moments_are_found_by_text_mood_date_and_favourite(phone):
    kept(phone, [*SMALL, ["We signed the lease", "", years_ago(8), "joy", "", [], False]])
    page = opened(phone)
    page.locator(".moment-memory").wait_for()
    page.get_by_label("Search moments").fill("CANDLES garden")
    page.get_by_text("1 moment found").wait_for()
    named(page, "Anna").wait_for()
    assert page.locator(".moment-card").count() == 1 and page.locator(".moment-memory").count() == 0
    page.get_by_label("Search moments").fill("")
    named(page, "The little harbour").wait_for()
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("button", name="Proud").click()
    page.get_by_text("1 moment found").wait_for()
    named(page, "Moving day").wait_for()
    phone.check()
    phone.picture("moments-filtered")
    assert page.evaluate("document.activeElement.textContent") == "Proud", "the focus is not on the filter"
    page.get_by_role("button", name="Proud").click()
    page.get_by_role("button", name="Favourites", exact=True).click()
    page.get_by_text("2 moments found").wait_for()
    page.get_by_role("button", name="Favourites", exact=True).click()
    day = datetime.date.today() - datetime.timedelta(days=20)
    page.get_by_label("From", exact=True).fill(day.isoformat())
    page.get_by_text("3 moments found").wait_for()
    page.get_by_label("To", exact=True).fill((day + datetime.timedelta(days=14)).isoformat())
    page.get_by_text("1 moment found").wait_for()
    named(page, "Anna").wait_for()
    page.get_by_role("button", name="Sad").click()
    page.get_by_text("Nothing found").wait_for()
    phone.check()
    phone.picture("moments-nothing")
    page.get_by_role("button", name="Show all").click()
    named(page, "The little harbour").wait_for()
    page.get_by_role("button", name="Filters").click()


@pytest.mark.service_worker
def test_pending_photos_are_shown_and_sent_when_the_hub_is_reachable(phone, computer):
    page = opened(phone)
    open_second(phone)
    computer.stop_hub()
    page.get_by_text("Offline. Showing").wait_for()
    inside_second(
        phone, KEPT, {"seed": 30, "moments": [row(["Far from any hub", "", 0.001, "", "", [[800, 600]], False])]}
    )
    named(page, "Far from any hub").get_by_title("Not sent yet").wait_for()
    phone.check()
    phone.picture("moments-offline")
    named(page, "Far from any hub").click()
    page.get_by_text("1 photo waits on this device, sealed, until the hub is reachable").wait_for()
    page.locator(".moment-slide-large[data-shown]").wait_for()
    phone.check()
    phone.picture("moment-offline")
    computer.start_hub()
    phone.online_again()
    page.locator(".moment-upload").wait_for(state="hidden")
    page.evaluate("() => second.close()")
    timeline(phone)
    assert page.get_by_title("Not sent yet").count() == 0


def test_unusual_titles_do_not_break_the_timeline(phone):
    nasty = [
        "<img src=x onerror=alert(1)>",
        "\u202eRight to left \u05e9\u05dc\u05d5\u05dd",
        "👩‍👩‍👧‍👦🏳️‍🌈" * 30,
        "a\u200bb\u200cc\u200d",
        "x" * 10_000,
        "wide " * 2000,
        "\n" * 500 + "below",
        "\u3042" * 400,
    ]
    ids = kept(
        phone,
        [
            *(
                [one, one, 400 + at, one[:200], one, [[400, 300]] if at % 2 else [], at % 3 == 0]
                for at, one in enumerate(nasty)
            ),
            *WITHOUT_PHOTOS,
        ],
        seed=40,
    )
    page = opened(phone)
    page.locator(".moment-year").last.click()
    page.locator(".moment-month").first.wait_for()
    for _ in range(6):
        settled(page)
        assert fits(page) == [], fits(page)
        widths = page.evaluate("() => [innerWidth, document.scrollingElement.scrollWidth]")
        assert widths == [393, 393], widths
        page.evaluate("() => scrollBy({ top: -400, behavior: 'instant' })")
    phone.check()
    phone.picture("moments-nasty")
    for one in (ids[1], ids[4], ids[6]):
        phone.go(f"moments/{one}")
        page.locator(".moment-detail").wait_for()
        phone.check()
    phone.picture("moment-nasty")


def test_the_timeline_uses_the_width_of_a_desktop(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    kept(desk, SMALL)
    page = opened(desk)
    page.locator(".moment-photo[data-shown]").nth(3).wait_for()
    lefts = page.evaluate("""() => {
        const cards = [...document.querySelectorAll(".moment-card")];
        return new Set(cards.map((one) => Math.round(one.getBoundingClientRect().left))).size;
    }""")
    assert lefts == 3, lefts
    assert fits(page) == []
    desk.check()
    for theme in ("dark", "light"):
        desk.becomes(theme)
        desk.picture("moments")
    named(page, "Anna").click()
    page.locator(".moment-slide-large[data-shown]").first.wait_for()
    stage, story = page.locator(".moment-stage").bounding_box(), page.locator(".moment-side").bounding_box()
    assert story["x"] > stage["x"] + stage["width"], "the text is not next to the photo"
    for theme in ("dark", "light"):
        desk.becomes(theme)
        desk.picture("moment")
    page.get_by_role("button", name="Next photo").click()
    page.get_by_text("2 of 3").wait_for()
    desk.check()
    page.get_by_role("button", name="Zoom photo 2 of 3").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    desk.picture("moment-closely")
    page.keyboard.press("Escape")
    desk.quiet()


@pytest.mark.sharp
def test_a_panorama_that_a_small_place_enlarges_is_loaded_larger(phone):
    kept(phone, [["The ridge", "", 1, "calm", "", [[800, 600], [2000, 150], [800, 600], [800, 600]], False]])
    page = opened(phone, "moments")
    places = page.locator(".moment-mosaic .moment-photo")
    places.nth(1).locator(".moment-sharp[data-shown]").wait_for()
    phone.picture("moments-panorama")
    # In a place as small the thumbnail of an ordinary photo is enough.
    assert places.nth(2).locator(".moment-sharp").count() == 0
