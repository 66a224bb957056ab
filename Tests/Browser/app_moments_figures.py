"""Moments are counted, and found where they were."""

from app import DESKTOP, eventually, traced
from app_moments_editor import opened
from app_vault import inside

PLACES = [
    ["Zürich", 47.37, 8.54], ["Lisbon", 38.72, -9.14], ["Kyoto", 35.01, 135.77], ["Reykjavík", 64.15, -21.94], ["Cape Town", -33.92, 18.42],
    ["New York", 40.71, -74.01], ["Buenos Aires", -34.6, -58.38], ["Sydney", -33.87, 151.21], ["Bern", 46.95, 7.44],
]


def many(phone, count):
    """Moments with places, made in the page with its own keys, straight into its store."""
    inside(phone, """
        const { device } = companion;
        const vault = await companion.household.mainVault();
        const { places, count } = given;
        const { moods } = await import("/core/moment-format.js");
        const rows = [];
        for (let index = 1; index <= count; index += 1) {
            const id = `ee${index.toString(16).padStart(30, "0")}`;
            const [name, latitude, longitude] = places[(index * 5) % places.length];
            const near = (value, turn) => value + Math.sin(index * turn) * 0.05;
            const date = 1_713_000_000 - index * 700_001 % 90_000_000;
            const content = {
                title: `Moment ${index}`, words: "", date, offset: 60, mood: index % 3 ? moods[(index * 7) % 8] : "", favourite: index % 9 === 0,
                ...(index % 4 ? { place: { name, latitude: near(latitude, 3), longitude: near(longitude, 7) } } : {}),
                photos: [], created: date, modified: date,
            };
            const record = await device.keys.sealContent({ vault, collection: "moments", id, revision: 1 }, content, 0);
            delete record.replaces;
            rows.push({ key: `moments/${id}`, collection: "moments", sequence: 1000 + index, record, at: Date.now() });
        }
        await device.store.write({ records: rows });
        device.changed(rows.map(({ key }) => key));""", {"places": PLACES, "count": count})


def marks(page):
    """What stands on the marks that can be seen, and where."""
    return page.evaluate("""() => {
        const { left, top, right, bottom } = document.querySelector(".map-surface").getBoundingClientRect();
        return [...document.querySelectorAll(".map-mark")].map((one) => [one.ariaLabel, one.getBoundingClientRect()])
            .filter(([, box]) => box.right > left && box.left < right && box.bottom > top && box.top < bottom)
            .map(([label, { x, y, width, height }]) => ({ label, x: x + width / 2, y: y + height / 2, width }));
    }""")


def counted(page):
    return sum(int(one["label"].split(", ")[-1].split()[0]) for one in marks(page))


def test_nothing_is_counted_before_there_is_something(phone, _):
    page = opened(phone, "moments/statistics", "In figures")
    page.get_by_text("Nothing to count yet").wait_for()
    phone.check()
    phone.go("moments/map", "Map")
    page.get_by_text("No places yet").wait_for()
    phone.check()
    phone.picture("map-empty")


def test_days_together_are_counted_and_the_next_occasion_is_the_nearest(phone, _):
    found = phone.page.evaluate("""async () => {
        const { nextOccasion } = await import("/screens/moments-together.js");
        return [["2019-06-01", "2019-06-01"], ["2019-06-01", "2020-05-31"], ["2019-06-01", "2020-06-01"], ["2020-02-29", "2021-02-27"],
            ["2020-02-29", "2021-02-28"], ["2000-01-01", "2026-11-22"], ["2019-06-01", "2022-02-24"]].map(([since, today]) => nextOccasion(since, today));
    }""")
    told = [(one["day"], one["inDays"], one["years"], one["days"]) for one in found]
    assert told == [
        ("2019-09-09", 100, None, 100), ("2020-06-01", 1, 1, 366), ("2020-07-05", 34, None, 400), ("2021-02-28", 1, 1, 365),
        ("2021-04-04", 35, None, 400), ("2027-01-01", 40, 27, 9862), ("2022-02-25", 1, None, 1000)], told


def test_figures_count_what_there_is(phone, _):
    page = phone.page
    many(phone, 240)
    phone.go("moments/statistics", "In figures")
    page.get_by_role("listitem").filter(has_text="moments").filter(has_text="240").wait_for()
    phone.picture("figures-no-day")
    phone.check()
    page.get_by_role("button", name="Set the day you count from").click()
    page.get_by_label("You count from").wait_for()
    page.get_by_role("button", name="Keep this day").click()
    page.get_by_text("Choose the day you count from").wait_for()
    phone.check()
    page.get_by_label("You count from").fill("2019-06-01")
    page.get_by_role("button", name="Keep this day").click()
    page.get_by_text("Kept.").wait_for()
    phone.picture("settings-everline")
    phone.go("moments/statistics", "In figures")
    page.get_by_text("days together").wait_for()
    days = page.evaluate("() => Math.floor((Date.UTC(new Date().getFullYear(), new Date().getMonth(), new Date().getDate()) - Date.parse('2019-06-01')) / 864e5)")
    assert page.locator(".figures-number").inner_text().replace(",", "") == str(days)
    phone.picture("figures")
    phone.check()
    page.get_by_text("As a table").click()
    page.get_by_role("heading", name="By month").scroll_into_view_if_needed()
    phone.picture("figures-months")
    phone.check()
    # The table, the drawing and its words say the same, in every year.
    whole = 0
    for year in page.locator(".figures-years button").all_inner_texts():
        page.locator(".figures-years").get_by_role("button", name=year).click()
        page.locator(".figures-year", has_text=f"{year}: ").wait_for()
        if not page.locator(".figures-details[open]").count():
            page.get_by_text("As a table").click()
        cells = [int(one) for one in page.locator(".figures-table tbody td:nth-child(2)").all_inner_texts()]
        assert f"{year}: {sum(cells)} moment" in page.locator(".figures-year").inner_text()
        bars = [float(one) for one in page.locator(".figures-bar").evaluate_all("(all) => all.map((one) => one.getAttribute('height'))")]
        assert len(bars) == 12 and all((cell == 0) == (bar == 3) for cell, bar in zip(cells, bars))
        assert cells.index(max(cells)) == bars.index(max(bars))
        title = page.locator(".figures-chart title").text_content()
        assert all(f" {cell}" in title for cell in cells if cell) and title.startswith(f"Moments by month in {year}: ")
        whole += sum(cells)
    assert whole == 240
    page.get_by_role("heading", name="Moods").scroll_into_view_if_needed()
    phone.picture("figures-moods")
    # Nobody finds the day where the device keeps its things.
    assert not phone.page.evaluate("""async () => {
        const { everythingIn, find } = await import("/tests/made-moments.js");
        const [{ name }] = await indexedDB.databases();
        return find(await everythingIn(name), new TextEncoder().encode("2019-06-01")) >= 0 || JSON.stringify(localStorage).includes("2019-06-01");
    }""")
    phone.go("settings/everline", "Everline")
    page.get_by_role("button", name="Count no days").click()
    page.get_by_text("No days are counted any more").wait_for()


def test_the_map_shows_where_moments_were_and_asks_nobody(phone, _):
    page = phone.page
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    phone.go("moments/map", "Map")
    page.locator(".map-mark").first.wait_for()
    placed = len(inside(phone, "return (await companion.moments.list()).moments.filter(({ place }) => place?.latitude !== undefined);"))
    eventually(lambda: counted(page) == placed, f"all {placed} on the map")
    phone.picture("map")
    phone.check()
    # No two of them lie on each other.
    found = marks(page)
    assert all(((one["x"] - other["x"]) ** 2 + (one["y"] - other["y"]) ** 2) ** 0.5 >= 44 for one in found for other in found if one is not other)
    page.locator(".map-mark").first.click()
    page.get_by_role("button", name="Closer").wait_for()
    phone.picture("map-found")
    phone.check()
    before = len(found)
    page.get_by_role("button", name="Closer").click()
    page.wait_for_timeout(300)
    page.evaluate("() => scrollTo(0, 0)")
    phone.picture("map-closer")
    page.get_by_role("button", name="Show all").click()
    eventually(lambda: counted(page) == placed)
    # By keys, the wheel and a finger.
    page.locator(".map-surface").focus()
    start = marks(page)[0]
    page.keyboard.press("ArrowRight")
    eventually(lambda: marks(page)[0]["x"] == start["x"] - 80, "80 pixels to the left")
    page.keyboard.press("+")
    eventually(lambda: len(page.locator(".map-mark").all()) > 0 and counted(page) <= placed)
    page.keyboard.press("0")
    eventually(lambda: counted(page) == placed and len(marks(page)) == before)
    box = page.locator(".map-surface").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    for _ in range(3):
        page.mouse.wheel(0, -400)
    eventually(lambda: counted(page) < placed, "closer by the wheel")
    page.keyboard.press("0")
    eventually(lambda: counted(page) == placed)
    start = marks(page)[0]
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 20, steps=6)
    page.mouse.up()
    eventually(lambda: (round(marks(page)[0]["x"] - start["x"]), round(marks(page)[0]["y"] - start["y"])) == (60, 20), "it follows the hand")
    # Two fingers.
    page.keyboard.press("0")
    eventually(lambda: counted(page) == placed)
    touch = phone.context.new_cdp_session(page)
    fingers = lambda apart: [{"x": middle[0] + side * apart, "y": middle[1], "id": index} for index, side in enumerate((-1, 1))]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(20)})
    for apart in range(30, 150, 10):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers(apart)})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    eventually(lambda: counted(page) < placed, "closer by two fingers")
    assert not [url for url in asked if not url.startswith((phone.address, "blob:"))], asked


def test_places_are_told_as_a_list_too(phone, _):
    page = phone.page
    phone.go("moments/map", "Map")
    page.get_by_role("heading", name="Places").wait_for()
    page.locator(".map-list").get_by_role("button", name="Show more").click()
    page.locator(".map-list").get_by_role("button", name="Cape Town").click()
    page.get_by_role("heading", name="Cape Town").wait_for()
    assert page.evaluate("() => document.activeElement.tagName") == "A"
    page.keyboard.press("Enter")
    page.wait_for_function("() => /^#\\/moments\\/ee[0-9a-f]{30}$/.test(location.hash)")


def test_no_name_of_a_place_breaks_the_map_or_the_figures(phone, _):
    hostile = "<img src=x onerror=alert(1)>\u202e\u200b👩‍👩‍👧‍👦" + "W" * 10_000
    inside(phone, """
        for (const [index, place] of [{ name: given, latitude: 0, longitude: 180 }, { name: given + "2" }, { latitude: 90, longitude: -180 }].entries()) {
            await companion.moments.save(null, { title: given, words: given, date: 1_700_000_000 + index, mood: given, place });
        }""", hostile)
    page = phone.page
    phone.go("home", "Home")
    phone.go("moments/map", "Map")
    page.get_by_text("Without a name").or_(page.locator(".map-mark")).first.wait_for()
    page.get_by_role("button", name="Show more").last.click()
    for index in range(page.locator(".map-list .row").count()):
        page.locator(".map-list .row").nth(index).click()
        page.locator(".map-found a").first.wait_for()
    phone.check()
    phone.picture("map-hostile")
    phone.go("moments/statistics", "In figures")
    page.get_by_role("heading", name="Moods").wait_for()
    phone.check()


def test_five_thousand_moments_move_without_a_pause(phone, computer):
    page = phone.page
    phone.go("home", "Home")
    many(phone, 5_000)
    opened(phone, "moments/map", "Map")
    page.locator(".map-mark").first.wait_for()
    # Where many lie close to each other.
    page.locator(".map-list .row").first.click()
    page.wait_for_timeout(1500)
    move = lambda: page.evaluate("""async () => {
        const surface = document.querySelector(".map-surface");
        const { left, top, width, height } = surface.getBoundingClientRect();
        let most = 0;
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const key = (name) => surface.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
        for (let round = 0; round < 60; round += 1) {
            const deltaY = round < 16 ? -120 : round >= 44 ? 120 : 0;
            if (deltaY) surface.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: left + width * 0.42, clientY: top + height / 2, cancelable: true }));
            else key(["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"][round % 4]);
            await frame();
            most = Math.max(most, document.querySelectorAll(".map-mark").length);
        }
        return most;
    }""")
    # A task of the map's is there each time; a collection of garbage is not.
    for _ in range(3):
        most, longest = traced(phone, move)
        print(f"    5,000 on the map: at most {most} marks, longest task {longest:.0f} ms", flush=True)
        if longest < 50:
            break
    assert longest < 50 and 8 < most < 250


def test_a_desktop_has_the_list_beside_the_map(phone, _):
    desk = phone.another(DESKTOP).pair()
    try:
        page = opened(desk, "moments/map", "Map")
        many(desk, 240)
        page.locator(".map-mark").first.wait_for()
        for theme in ("light", "dark"):
            desk.becomes(theme)
            page.locator(".map-mark").first.click()
            desk.picture("map")
        desk.check()
        plot, side = page.locator(".map-main").bounding_box(), page.locator(".map-side").bounding_box()
        assert side["x"] > plot["x"] + plot["width"] and plot["width"] > 400
        desk.go("settings/everline", "Settings")
        page.get_by_label("You count from").fill("2019-06-01")
        page.get_by_role("button", name="Keep this day").click()
        page.get_by_text("Kept.").wait_for()
        desk.check()
        desk.go("moments/statistics", "In figures")
        page.get_by_role("heading", name="Moods").wait_for()
        for theme in ("light", "dark"):
            desk.becomes(theme)
            desk.picture("figures")
        desk.check()
        # Locked, nothing of it is in the page.
        page.evaluate("() => document.querySelector('.figures').dataset.here = 'yes'")
        inside(desk, "companion.lock();")
        page.get_by_role("heading", name="AppLocker is locked").wait_for()
        assert page.locator(".figures").count() == 0 and "days together" not in page.content()
    finally:
        desk.close()
