"""Everline's timeline, moments, search and trash, as a person meets them."""

import datetime
import time

from app import DESKTOP, PIN, eventually
from moment_steps import KEPT, beside, opened

DAY = 86_400
FIRST = [
    # Title, words, days ago, mood, place, sizes of its photos, favourite.
    ["The little harbour", "We stayed until the lamps came on, and walked home along the water. You said that we should come back every year, and I think we will.", 1, "calm", "Honfleur", [[1200, 900]], True],
    ["", "I never told you how much that letter meant to me. It is still in the drawer, next to the tickets from the first concert.\nI read it again today.", 3, "love", "", [], False],
    ["Anna’s birthday", "Thirty candles and not one of us could sing.", 9, "funny", "Grandmother’s garden", [[900, 1200], [1200, 900], [1000, 1000]], False],
    ["First snow", "", 40, "joy", "", [[1200, 800], [800, 1200]], False],
    ["Moving day", "Forty boxes, one lamp, no curtains. We slept on the floor and it was the best night of the year.", 41, "proud", "Rue des Martyrs", [[1600, 900], [900, 1200], [1200, 900], [1200, 900], [900, 900], [1200, 900]], True],
]


def years_ago(years):
    """In days, so that it was on this day."""
    today = datetime.date.today()
    return (today - today.replace(year=today.year - years, day=min(today.day, 28) if today.month == 2 else today.day)).days


def kept(phone, moments, seed=1, marker=None):
    now = time.time()
    return beside(phone, KEPT, {"seed": seed, "marker": marker, "moments": [[*one[:2], now - one[2] * DAY, *one[3:]] for one in moments]})


def timeline(phone):
    phone.go("home", "Home")
    phone.go("moments", "Everline")
    phone.page.locator(".moment-card").first.wait_for()
    # It comes back where it was left.
    phone.page.evaluate("scrollTo(0, 0)")
    phone.page.locator("[aria-posinset='1']").wait_for()
    return phone.page


def named(page, text):
    return page.locator(".moment-card", has_text=text)


def fits(page):
    """Every card is as high as it was laid out: nothing is cut off, nothing overlaps."""
    return page.evaluate("""() => [...document.querySelectorAll(".moment-flow > article")].map((card) => {
        const text = card.querySelector(".moment-text");
        return [card.getAttribute("aria-posinset"), Math.round(card.getBoundingClientRect().height - (text.offsetTop + text.scrollHeight))];
    }).filter(([, left]) => left < -1 || left > 30)""")


def test_an_empty_timeline_invites(phone, _):
    page = opened(phone)
    page.get_by_text("Begin your story here").wait_for()
    assert page.get_by_role("link", name="Keep a first moment").get_attribute("href") == "#/moments/new"
    phone.check()
    phone.picture("moments-empty")


def test_moments_stand_in_the_timeline_with_their_pictures(phone, _):
    page = phone.page
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


def test_what_was_on_this_day_stands_on_top(phone, _):
    page = timeline(phone)
    assert page.get_by_role("heading", name="On this day").count() == 0
    kept(phone, [["Under the chestnut tree", "You fell asleep over the third chapter.", years_ago(2), "", "", [[900, 1200]], False],
                 ["", "We signed the lease.", years_ago(5), "joy", "", [], False]], seed=20)
    page.get_by_role("heading", name="On this day").wait_for()
    memories = page.locator(".moment-memory")
    memories.nth(1).wait_for()
    assert memories.count() == 2
    assert memories.nth(0).inner_text().split("\n") == ["2 years ago", "Under the chestnut tree"]
    memories.first.locator("[data-shown]").wait_for()
    phone.check()
    phone.picture("moments-this-day")
    memories.first.click()
    page.get_by_role("heading", name="Under the chestnut tree").wait_for()
    page.get_by_role("button", name="Back", exact=True).click()


def test_moments_are_found_by_words_mood_days_and_heart(phone, _):
    page = timeline(phone)
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
    assert page.evaluate("document.activeElement.textContent") == "Proud", "the focus is lost"
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


def test_a_moment_is_looked_at_with_its_photos_one_beside_the_other(phone, _):
    page = timeline(phone)
    named(page, "Anna").click()
    page.get_by_role("heading", name="Anna’s birthday").wait_for()
    assert page.title().startswith("Moment"), "browsers keep the names of pages"
    slides = page.locator(".moment-slide")
    assert slides.count() == 3
    # The small one is beneath until the larger one is there.
    page.locator(".moment-slide").first.locator(".moment-slide-large[data-shown]").wait_for()
    wide = "(node) => node.querySelector('.moment-slide-large').naturalWidth"
    assert slides.nth(0).evaluate("(node) => node.querySelector('.moment-slide-small').naturalWidth") == 240
    assert slides.nth(0).evaluate(wide) == 900
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
    # Two are held: the last one and the one before it.
    eventually(lambda: page.locator(".moment-slide-large[src]").count() == 2)
    assert page.locator(".moment-dot-here").count() == 1
    page.evaluate("document.querySelector('.moment-slides').scrollTo({ left: 0 })")
    page.get_by_text("1 of 3").wait_for()


def test_a_photo_is_looked_at_closely(phone, _):
    page = phone.page
    page.get_by_role("button", name="Look at photo 1 of 3 closely").click()
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


def test_a_heart_is_given_and_the_neighbours_are_reached(phone, _):
    page = phone.page
    heart = page.get_by_role("button", name="Favourite")
    assert heart.get_attribute("aria-pressed") == "false"
    heart.click()
    page.locator(".moment-favour[aria-pressed=true]").wait_for()
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


def test_a_deleted_moment_comes_back_by_undo_or_from_the_trash(phone, _):
    page = timeline(phone)
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
    page.get_by_text("is back in your timeline").wait_for()
    page.get_by_role("button", name="Restore The little harbour").wait_for(state="detached")
    erase = page.get_by_role("button", name="Erase", exact=False).filter(has_text="Erase now")
    erase.click()
    page.get_by_text("Nothing brings it back").wait_for()
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


def test_photos_that_wait_are_told_and_go_when_the_hub_is_back(phone, computer):
    page = timeline(phone)
    # The gate asks the hub: it is answered before the hub is gone.
    page.evaluate("""async (pin) => {
        const { Companion } = await import("/core/companion.js");
        window.second = await Companion.open();
        await second.unlockWithPIN(pin);
    }""", PIN)
    computer.asked(["stop-hub"])
    page.get_by_text("Not connected").wait_for(timeout=30_000)
    page.evaluate("async (given) => { const companion = second; BODY }".replace("BODY", KEPT),
                  {"seed": 30, "moments": [["Far from any hub", "", time.time() - 60, "", "", [[800, 600]], False]]})
    named(page, "Far from any hub").get_by_title("Not sent yet").wait_for()
    phone.check()
    phone.picture("moments-offline")
    named(page, "Far from any hub").click()
    page.get_by_text("1 photo waits on this device, sealed, until the hub can be reached").wait_for()
    page.locator(".moment-slide-large[data-shown]").wait_for()
    phone.check()
    phone.picture("moment-offline")
    computer.asked(["start-hub"])
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    page.locator(".moment-upload").wait_for(state="hidden", timeout=30_000)
    page.evaluate("() => second.close()")
    timeline(phone)
    assert page.get_by_title("Not sent yet").count() == 0


def test_names_that_strain_the_timeline_do_no_harm(phone, _):
    nasty = ["<img src=x onerror=alert(1)>", "\u202eRight to left \u05e9\u05dc\u05d5\u05dd", "👩‍👩‍👧‍👦🏳️‍🌈" * 30, "a\u200bb\u200cc\u200d", "x" * 10_000, "wide " * 2000, "\n" * 500 + "below", "\u3042" * 400]
    ids = kept(phone, [[one, one, 400 + at, one[:200], one, [[400, 300]] if at % 2 else [], at % 3 == 0] for at, one in enumerate(nasty)], seed=40)
    page = timeline(phone)
    page.locator(".moment-year").last.click()
    page.locator(".moment-month").first.wait_for()
    for _ in range(6):
        assert fits(page) == [], fits(page)
        widths = page.evaluate("() => [innerWidth, document.scrollingElement.scrollWidth]")
        assert widths == [393, 393], widths
        page.mouse.wheel(0, -400)
        page.wait_for_timeout(60)
    phone.check()
    phone.picture("moments-nasty")
    for one in (ids[1], ids[4], ids[6]):
        phone.go(f"moments/{one}")
        page.locator(".moment-detail").wait_for()
        phone.check()
    phone.picture("moment-nasty")
    beside(phone, """
        for (const id of given) await companion.moments.erase(await companion.moments.read(id));""", ids)


def test_the_desktop_uses_its_width(phone, _):
    desk = phone.another(DESKTOP, name="Desk")
    desk.pair()
    page = opened(desk)
    page.locator(".moment-photo[data-shown]").nth(3).wait_for()
    lefts = page.evaluate("() => new Set([...document.querySelectorAll('.moment-card')].map((one) => Math.round(one.getBoundingClientRect().left))).size")
    assert lefts == 3, lefts
    assert fits(page) == []
    desk.check()
    for theme in ("dark", "light"):
        desk.becomes(theme)
        desk.picture("moments")
    named(page, "Anna").click()
    page.locator(".moment-slide-large[data-shown]").first.wait_for()
    stage, story = page.locator(".moment-stage").bounding_box(), page.locator(".moment-side").bounding_box()
    assert story["x"] > stage["x"] + stage["width"], "the words are beside the photo"
    for theme in ("dark", "light"):
        desk.becomes(theme)
        desk.picture("moment")
    page.get_by_role("button", name="Next photo").click()
    page.get_by_text("2 of 3").wait_for()
    desk.check()
    page.get_by_role("button", name="Look at photo 2 of 3 closely").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    desk.picture("moment-closely")
    page.keyboard.press("Escape")
    desk.quiet()
    desk.close()
