"""Thousands of moments and photos: what the timeline keeps in memory, and how a moment is found."""

import json
import pathlib

import pytest

from long_form import IS_LONG
from moment_steps import PAINTED, WATCH_URLS, many, opened, settled
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

# Scrolls by `step` pixels so many times, once a frame; with `isCalm`, after each picture in view is drawn. Returns the
# largest numbers of cards, nodes and object URLs, how many pictures were drawn and how long they took, and the longest
# task, 0 if none was above 50. Times are in milliseconds.
SCROLLED = """async ({ frames, step, isCalm }) => {
    const [cards, nodes] = [[], []];
    window.mostUrls = urls.size;
    let longest = 0;
    const tasks = new PerformanceObserver((list) => {
        longest = Math.max(longest, ...list.getEntries().map(({ duration }) => duration));
    });
    tasks.observe({ type: "longtask" });
    // How long a picture that is in view is not there yet.
    const waits = new Map(), waited = [];
    const look = () => {
        let missing = 0;
        const now = performance.now();
        for (const place of document.querySelectorAll(".moment-photo")) {
            const { top, bottom } = place.getBoundingClientRect();
            if (bottom < 0 || top > innerHeight) { waits.delete(place); continue; }
            if (!waits.has(place)) waits.set(place, { since: now, isDone: false });
            const one = waits.get(place);
            if (!place.hasAttribute("data-shown")) missing += 1;
            else if (!one.isDone) { one.isDone = true; waited.push(now - one.since); }
        }
        return missing;
    };
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (let count = 0; count < frames; count += 1) {
        window.scrollBy({ top: step, behavior: "instant" });
        await frame();
        while (look() > 0 && isCalm) await frame();
        cards.push(document.querySelectorAll(".moment-card").length);
        nodes.push(document.querySelectorAll("*").length);
    }
    tasks.disconnect();
    waited.sort((one, other) => one - other);
    return {
        cards: Math.max(...cards), nodes: Math.max(...nodes), urls: mostUrls, y: Math.round(scrollY),
        pictures: waited.length, median: Math.round(waited[waited.length >> 1]), most: Math.round(waited.at(-1)),
        longest };
}"""


# The decrypted moments are also stored sealed in one piece.
INDEX_IS_KEPT = """async () => {
    const { CompanionStore } = await import("/store/store.js");
    const store = await CompanionStore.open();
    try { return (await store.fact("momentIndex", null)) !== null; } finally { store.close(); }
}"""


def private_memory(phone):
    """The private memory of this browser's largest page process, in bytes."""
    session = phone.browser.new_browser_cdp_session()
    processes = [
        one["id"] for one in session.send("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"
    ]
    session.detach()
    lines = [
        line.split()
        for one in processes
        for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()[1:]
    ]
    return max(int(line[1]) * 1024 for line in lines if line[0] == "Private_Dirty:")


def memory(phone):
    """The size of the page's heap and documents after a garbage collection, in bytes."""
    session = phone.context.new_cdp_session(phone.page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")
    session.detach()
    return heap["usedSize"] + heap.get("embedderHeapUsedSize", 0) + heap.get("backingStorageSize", 0)


# In the long form sealing 13,000 records takes ten seconds of two processors, and other programs may use this one.
@pytest.mark.timeout(300)
def test_scrolling_thousands_of_moments_keeps_few_in_memory(phone):
    count, photos = (5000, 8000) if IS_LONG else (2000, 3200)
    many(phone, count, photos)
    page = opened(phone)
    page.locator(".moment-card").first.wait_for()
    # Opened once before; the second opening is measured.
    eventually(lambda: page.evaluate(INDEX_IS_KEPT), "the index of moments is stored")
    page.reload()
    phone.unlock()
    page.get_by_role("heading", name="Open your moments").wait_for()
    page.evaluate(WATCH_URLS)
    page.evaluate(PAINTED)
    phone.confirm("Open your moments")
    first = page.evaluate("shown")
    page.locator(".moment-photo[data-shown]").first.wait_for()
    phone.picture("moments-many")
    runs = []
    for options in (
        {"frames": 180 if IS_LONG else 60, "step": 60},
        {"frames": 180, "step": 900},
        {"frames": 30, "step": 360, "isCalm": True},
    ):
        page.evaluate("scrollTo(0, 0)")
        page.locator("[aria-posinset='1']").wait_for()
        runs.append(page.evaluate(SCROLLED, options))
    slow, fast, calm = runs
    held = memory(phone)
    print(
        f"{count} moments, {photos} photos: first paint {first} ms after unlocking; slowly {json.dumps(slow)}; "
        f"fast {json.dumps(fast)}; calmly {json.dumps(calm)}; {held / 1e6:.0f} MB held by scripts, "
        f"{private_memory(phone) / 1e6:.0f} MB by the process"
    )
    for run in runs:
        assert 0 < run["cards"] <= 40 and run["nodes"] < 1500 and run["urls"] <= 120, run
    assert fast["y"] > 150_000, fast
    assert calm["pictures"] > 30, calm
    # Unlike a time, the size of the heap is the same on a busy machine.
    assert held < 60_000 * count, held
    # Far from the top, none of its pictures is still loaded.
    page.evaluate("scrollTo(0, 150_000)")
    eventually(lambda: page.evaluate("urls.size") <= 60, "only pictures near the screen are loaded")
    phone.go("home", "Home")
    eventually_equals(lambda: page.evaluate("urls.size"), 0, "pictures of a closed screen")


def test_a_year_is_reached_at_once_and_the_timeline_keeps_its_position(phone):
    many(phone, 1600, 2560)
    page = opened(phone)
    page.locator(".moment-card").first.wait_for()
    years = page.locator(".moment-year")
    assert years.count() >= 8
    oldest = years.last.inner_text()
    years.last.click()
    page.locator(".moment-month", has_text=oldest).first.wait_for()
    assert page.locator(".moment-year[aria-current]").inner_text() == oldest
    assert page.evaluate("document.activeElement.classList.contains('moment-card')")
    top = page.locator(".moment-month", has_text=oldest).first.bounding_box()["y"]
    assert 0 <= top < 150, top
    assert page.locator(".moment-card").count() <= 40
    phone.picture("moments-year")
    phone.check()
    # By its address: the number of cards above it changes as the page scrolls.
    address = page.locator(".moment-card").nth(6).get_attribute("href")
    card = page.locator(f".moment-card[href='{address}']")
    name = card.get_attribute("aria-label")
    card.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    assert before > 100_000
    card.click()
    page.locator(".moment-detail").wait_for()
    page.get_by_role("button", name="Back", exact=True).click()
    page.locator(".moment-timeline").wait_for()
    eventually(lambda: abs(page.evaluate("scrollY") - before) < 3, "the timeline keeps its position")
    page.get_by_role("link", name=name, exact=True).first.wait_for()


def test_a_search_of_thousands_requires_all_words(phone):
    count = 5000 if IS_LONG else 2000
    many(phone, count, 0)
    page = opened(phone)
    page.locator(".moment-card").first.wait_for()
    page.get_by_label("Search moments").fill(f"harbour {count - 7}")
    page.get_by_text("1 moment found").wait_for()
    assert page.locator(".moment-card").count() == 1
    page.get_by_label("Search moments").fill("nothing of the kind")
    page.get_by_text("Nothing found").wait_for()
    page.get_by_role("button", name="Show all").click()
    page.locator(".moment-card").nth(1).wait_for()


def test_the_keyboard_moves_between_moments_that_are_not_drawn_yet(phone):
    many(phone, 200, 300)
    page = opened(phone)
    page.locator("[aria-posinset='1'] a").focus()
    assert page.locator("[aria-posinset='41']").count() == 0, "not drawn yet"
    for key, end in (("Tab", "41"), ("Shift+Tab", "1")):
        for _ in range(40):
            page.keyboard.press(key)
            # The list draws the next entries in the frame after scrolling.
            settled(page)
        assert page.evaluate("document.activeElement.parentElement.getAttribute('aria-posinset')") == end
