"""Everline's statistics: what is counted, and the day from which days together are counted."""

import pytest

import pages
from moment_steps import opened, placed
from phone import DESKTOP, Phone

pytestmark = pytest.mark.computer_is_off


def test_without_moments_there_are_no_statistics(phone):
    page = opened(phone, "moments/statistics", "Statistics")
    page.get_by_text("No statistics yet").wait_for()
    phone.check()
    phone.go("moments/map", "Map")
    page.get_by_text("No places yet").wait_for()
    phone.check()
    phone.picture("map-empty")


def test_days_together_are_counted_and_the_next_occasion_is_the_nearest(page):
    with pages.served() as address:
        page.goto(address + "/tests.html")
        found = page.evaluate("""async () => {
            const { nextOccasion } = await import("/features/moments/together.js");
            return [
                ["2019-06-01", "2019-06-01"], ["2019-06-01", "2020-05-31"], ["2019-06-01", "2020-06-01"],
                ["2020-02-29", "2021-02-27"], ["2020-02-29", "2021-02-28"], ["2000-01-01", "2026-11-22"],
                ["2019-06-01", "2022-02-24"],
            ].map(([since, today]) => nextOccasion(since, today));
        }""")
    occasions = [(one["day"], one["inDays"], one["years"], one["days"]) for one in found]
    assert occasions == [
        ("2019-09-09", 100, None, 100),
        ("2020-06-01", 1, 1, 366),
        ("2020-07-05", 34, None, 400),
        ("2021-02-28", 1, 1, 365),
        ("2021-04-04", 35, None, 400),
        ("2027-01-01", 40, 27, 9862),
        ("2022-02-25", 1, None, 1000),
    ], occasions


def test_statistics_count_moments_by_month_year_and_place(phone):
    placed(phone, 240)
    page = opened(phone, "moments/statistics", "Statistics")
    page.get_by_role("listitem").filter(has_text="moments").filter(has_text="240").wait_for()
    phone.picture("statistics-no-day")
    phone.check()
    page.get_by_text("As a table").click()
    page.get_by_role("heading", name="By month").scroll_into_view_if_needed()
    phone.picture("statistics-months")
    phone.check()
    # The table, the chart and its title agree in every year.
    whole = 0
    for year in page.locator(".statistics-years button").all_inner_texts():
        page.locator(".statistics-years").get_by_role("button", name=year).click()
        page.locator(".statistics-year", has_text=f"{year}: ").wait_for()
        if not page.locator(".statistics-details[open]").count():
            page.get_by_text("As a table").click()
        cells = [int(one) for one in page.locator(".statistics-table tbody td:nth-child(2)").all_inner_texts()]
        assert f"{year}: {sum(cells)} moment" in page.locator(".statistics-year").inner_text()
        bars = [
            float(one)
            for one in page.locator(".statistics-bar").evaluate_all(
                "(all) => all.map((one) => one.getAttribute('height'))"
            )
        ]
        assert len(bars) == 12 and all((cell == 0) == (bar == 3) for cell, bar in zip(cells, bars, strict=True))
        assert cells.index(max(cells)) == bars.index(max(bars))
        title = page.locator(".statistics-chart title").text_content()
        assert all(f" {cell}" in title for cell in cells if cell) and title.startswith(f"Moments by month in {year}: ")
        whole += sum(cells)
    assert whole == 240
    page.get_by_role("heading", name="Moods").scroll_into_view_if_needed()
    phone.picture("statistics-moods")


def test_the_first_day_together_is_stored_sealed(phone):
    placed(phone, 240)
    page = opened(phone, "moments/statistics", "Statistics")
    page.get_by_role("button", name="Set the day you count from").click()
    page.get_by_label("Together since").wait_for()
    page.get_by_role("button", name="Save day").click()
    page.get_by_text("Choose the day you count from").wait_for()
    phone.check()
    page.get_by_label("Together since").fill("2019-06-01")
    page.get_by_role("button", name="Save day").click()
    page.get_by_text("Saved.").wait_for()
    phone.picture("settings-everline")
    phone.go("moments/statistics", "Statistics")
    page.get_by_text("days together").wait_for()
    days = page.evaluate("""() => {
        const now = new Date();
        const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
        return Math.floor((today - Date.parse("2019-06-01")) / 864e5);
    }""")
    assert page.locator(".statistics-number").inner_text().replace(",", "") == str(days)
    phone.picture("statistics")
    phone.check()
    # The day is not readable in the device's storage.
    size, is_found = page.evaluate("""async () => {
        const { everythingIn, find } = await import("/tests/fake-moments.js");
        const [{ name }] = await indexedDB.databases();
        const everything = await everythingIn(name);
        const isInDatabase = find(everything, new TextEncoder().encode("2019-06-01")) >= 0;
        return [everything.length, isInDatabase || JSON.stringify(localStorage).includes("2019-06-01")];
    }""")
    assert size > 10_000 and not is_found, size
    phone.go("settings/everline", "Everline")
    page.get_by_role("button", name="Stop counting days").click()
    page.get_by_text("Counting was turned off").wait_for()


def test_a_desktop_shows_statistics_and_removes_them_when_it_locks(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    placed(desk, 240)
    page = opened(desk)
    desk.go("settings/everline", "Settings")
    page.get_by_label("Together since").fill("2019-06-01")
    page.get_by_role("button", name="Save day").click()
    page.get_by_text("Saved.").wait_for()
    desk.check()
    desk.go("moments/statistics", "Statistics")
    page.get_by_role("heading", name="Moods").wait_for()
    for theme in ("light", "dark"):
        desk.becomes(theme)
        desk.picture("statistics")
    desk.check()
    page.get_by_text("days together").wait_for()
    desk.inside("companion.lock();")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert page.locator(".statistics").count() == 0 and "days together" not in page.content()
    desk.quiet()
