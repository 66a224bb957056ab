"""Moments are found on a map and in a list of places."""

import pytest

from moment_steps import MOVE_MAP, opened, placed, settled
from phone import DESKTOP, Phone
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off


def marks(page):
    """The text and position of the visible marks."""
    return page.evaluate("""() => {
        const { left, top, right, bottom } = document.querySelector(".map-surface").getBoundingClientRect();
        return [...document.querySelectorAll(".map-mark")].map((one) => [one.ariaLabel, one.getBoundingClientRect()])
            .filter(([, box]) => box.right > left && box.left < right && box.bottom > top && box.top < bottom)
            .map(([label, { x, y, width, height }]) => ({ label, x: x + width / 2, y: y + height / 2, width }));
    }""")


def counted(page):
    return sum(int(one["label"].split(", ")[-1].split()[0]) for one in marks(page))


def shows_all(page, count):
    eventually_equals(lambda: counted(page), count, f"all {count} on the map")


def requests_elsewhere(phone):
    """Records the requests of the page to other addresses than the hub's."""
    found = []
    phone.page.on(
        "request",
        lambda request: None if request.url.startswith((phone.address, "blob:")) else found.append(request.url),
    )
    return found


def open_map(phone, moments):
    """Opens the map; returns how many moments have a position."""
    placed(phone, moments)
    page = opened(phone, "moments/map", "Map")
    page.locator(".map-mark").first.wait_for()
    return len(
        phone.inside("""
            const { moments } = await companion.moments.list();
            return moments.filter(({ place }) => place?.latitude !== undefined).map(({ id }) => id);""")
    )


def test_the_map_of_one_position_shows_a_coast(phone):
    page = phone.page
    assert open_map(phone, 1) == 1
    shows_all(page, 1)
    assert page.locator(".map-land").get_attribute("opacity") == "1.00"
    phone.picture("map-one")


def test_the_map_shows_moments_without_network_requests(phone):
    page = phone.page
    elsewhere = requests_elsewhere(phone)
    count = open_map(phone, 240)
    shows_all(page, count)
    phone.picture("map")
    phone.check()
    # No two marks overlap.
    found = marks(page)
    assert all(
        ((one["x"] - other["x"]) ** 2 + (one["y"] - other["y"]) ** 2) ** 0.5 >= 44
        for one in found
        for other in found
        if one is not other
    )
    page.locator(".map-mark").first.click()
    page.get_by_role("button", name="Closer").click()
    eventually(lambda: counted(page) < count, "the map zooms to one mark")
    page.evaluate("() => scrollTo(0, 0)")
    phone.picture("map-closer")
    page.get_by_role("button", name="Show all").click()
    shows_all(page, count)
    assert len(marks(page)) == len(found)
    assert elsewhere == []


def test_the_map_responds_to_keys_wheel_and_touch(phone):
    page = phone.page
    elsewhere = requests_elsewhere(phone)
    count = open_map(phone, 240)
    shows_all(page, count)
    before = len(marks(page))
    page.locator(".map-surface").focus()
    start = marks(page)[0]
    page.keyboard.press("ArrowRight")
    eventually_equals(lambda: marks(page)[0]["x"], start["x"] - 80, "80 pixels to the left")
    aside = marks(page)
    page.keyboard.press("+")
    eventually(lambda: marks(page) != aside, "the map zooms by a key")
    assert page.locator(".map-mark").count() > 0 and counted(page) <= count
    page.keyboard.press("0")
    eventually(lambda: counted(page) == count and len(marks(page)) == before)
    box = page.locator(".map-surface").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    for _ in range(3):
        page.mouse.wheel(0, -400)
    eventually(lambda: counted(page) < count, "the map zooms by the wheel")
    settled(page)
    page.keyboard.press("0")
    shows_all(page, count)
    start = marks(page)[0]
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 20, steps=6)
    page.mouse.up()
    eventually_equals(
        lambda: (round(marks(page)[0]["x"] - start["x"]), round(marks(page)[0]["y"] - start["y"])),
        (60, 20),
        "the map follows the pointer",
    )
    # Two fingers.
    page.keyboard.press("0")
    shows_all(page, count)
    touch = phone.context.new_cdp_session(page)

    def fingers(apart):
        return [{"x": middle[0] + side * apart, "y": middle[1], "id": index} for index, side in enumerate((-1, 1))]

    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(20)})
    for apart in range(30, 150, 10):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers(apart)})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    eventually(lambda: counted(page) < count, "the map zooms by two fingers")
    assert elsewhere == []


def test_places_are_also_shown_as_a_list(phone):
    page = phone.page
    open_map(phone, 240)
    page.get_by_role("heading", name="Places").wait_for()
    page.locator(".map-mark").first.click()
    page.get_by_role("button", name="Closer").wait_for()
    phone.picture("map-found")
    phone.check()
    page.locator(".map-list").get_by_role("button", name="Show more").click()
    page.locator(".map-list").get_by_role("button", name="Cape Town").click()
    page.get_by_role("heading", name="Cape Town").wait_for()
    assert page.evaluate("() => document.activeElement.tagName") == "A"
    page.keyboard.press("Enter")
    page.wait_for_function("() => /^#\\/moments\\/ee[0-9a-f]{30}$/.test(location.hash)")


def test_unusual_place_names_do_not_break_the_map_or_the_statistics(phone):
    hostile = "<img src=x onerror=alert(1)>\u202e\u200b👩‍👩‍👧‍👦" + "W" * 10_000
    phone.inside(
        """
        const places = [
            { name: arg, latitude: 0, longitude: 180 }, { name: arg + "2" }, { latitude: 90, longitude: -180 },
        ];
        for (const [index, place] of places.entries()) {
            await companion.moments.save(null, {
                title: arg, words: arg, date: 1_700_000_000 + index, mood: arg, place });
        }""",
        hostile,
    )
    placed(phone, 240)
    page = opened(phone, "moments/map", "Map")
    page.get_by_text("Without a name").or_(page.locator(".map-mark")).first.wait_for()
    page.get_by_role("button", name="Show more").last.click()
    rows = page.locator(".map-list .row")
    assert rows.count() == 12
    for index in range(rows.count()):
        rows.nth(index).click()
        page.locator(".map-found a").first.wait_for()
    phone.check()
    phone.picture("map-hostile")
    phone.go("moments/statistics", "Statistics")
    page.get_by_role("heading", name="Moods").wait_for()
    phone.check()


def test_a_desktop_shows_the_list_beside_the_map(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    page = desk.page
    open_map(desk, 240)
    for theme in ("light", "dark"):
        desk.becomes(theme)
        page.locator(".map-mark").first.click()
        desk.picture("map")
    desk.check()
    plot, side = page.locator(".map-main").bounding_box(), page.locator(".map-side").bounding_box()
    assert side["x"] > plot["x"] + plot["width"] and plot["width"] > 400
    desk.quiet()


def test_five_thousand_moments_are_grouped_into_few_marks(phone):
    page = phone.page
    open_map(phone, 5_000)
    # In an area with many moments.
    everywhere = marks(page)
    page.locator(".map-list .row").first.click()
    eventually(lambda: marks(page) != everywhere, "the map zooms to one place")
    most, longest = page.evaluate(MOVE_MAP)
    print(f"5,000 on the map: at most {most} marks; longest task {longest:.0f} ms, 0 for none above 50")
    assert 8 < most < 250
