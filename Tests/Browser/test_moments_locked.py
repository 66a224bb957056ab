"""What is left of moments when the gate has closed: nothing that can be read."""

import pytest

from moment_steps import KEPT_ON_THE_DEVICE, WATCH_URLS, kept, named, opened, timeline
from waiting import eventually

pytestmark = pytest.mark.computer_is_off

MARKED = ["Xylophone-marker", "Quetzal-marker words", 0, "Mood-marker", "Place-marker", [[1200, 900]], False]

# Whether these words are anywhere in what this browser keeps, how much that is, and how many files are in its caches.
KEPT_WORDS = """async (words) => {
    const { everythingIn } = await import("/tests/made-moments.js");
    const bytes = new TextDecoder("latin1").decode(await everythingIn("applocker"));
    const caches = (await Promise.all((await self.caches.keys()).map(async (name) => (await (await self.caches.open(name)).keys()).map(({ url }) => url)))).flat();
    return [new RegExp(words, "i").test(bytes + JSON.stringify({ ...localStorage, ...sessionStorage }) + caches), bytes.length, caches.length];
}"""


def heap(phone):
    """A snapshot of everything that JavaScript can reach, as text."""
    session, parts = phone.context.new_cdp_session(phone.page), []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "captureNumericValue": False})
    session.detach()
    return "".join(parts)


def reached(phone):
    """Which of the moment's words JavaScript can reach."""
    text = heap(phone)
    return [words for words in ("Quetzal-marker", "Xylophone-marker", "Place-marker") if words in text]


def looked_at(phone):
    """With a photo of it opened, and WATCH_URLS in the page from before anything of it was shown."""
    phone.page.evaluate(WATCH_URLS)
    kept(phone, [MARKED], seed=60)
    page = opened(phone)
    page.locator(".moment-photo[data-shown]").first.wait_for()
    look_at(page)
    return page


def look_at(page):
    named(page, "Xylophone").click()
    page.locator(".moment-slide-large[data-shown]").first.wait_for()


def delete(phone):
    timeline(phone)
    named(phone.page, "Xylophone").click()
    phone.page.get_by_role("button", name="Delete this moment").click()
    phone.page.get_by_role("button", name="Undo").wait_for()


def locks(phone, where):
    """The gate closes, and nothing of the moment is left in the page or on the device."""
    page = phone.page
    phone.lock()
    eventually(lambda: page.evaluate("urls.size") == 0, f"object URLs after {where}")
    assert page.locator("img[src^='blob:'], dialog, .moment-card, .moment-detail").count() == 0
    assert "marker" not in page.content(), where
    assert "marker" not in page.title()
    is_found, size, cached = page.evaluate(KEPT_WORDS, "xylophone|quetzal|mood-marker|place-marker")
    assert is_found is False and size > 10_000, (where, size)
    return cached


def unlock(phone):
    phone.unlock()
    phone.confirm("Open your moments")


@pytest.mark.service_worker
def test_nothing_of_a_moment_that_is_looked_at_stays_when_the_gate_closes(phone):
    page = looked_at(phone)
    eventually(lambda: page.evaluate(KEPT_ON_THE_DEVICE), "caches that are looked through")
    assert "marker" in page.content()
    assert locks(phone, "detail") > 100
    unlock(phone)
    page.get_by_role("button", name="Look at photo 1 of 1 closely").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    assert "Quetzal-marker words" in heap(phone), "the search finds what is there"
    assert "marker" in page.content()
    locks(phone, "closely")
    # What was under way ends by itself.
    eventually(lambda: not reached(phone), "no words that can be reached while the gate is closed")
    unlock(phone)
    timeline(phone)
    page.locator(".moment-photo[data-shown]").first.wait_for()
    assert "marker" in page.content()
    locks(phone, "timeline")
    unlock(phone)


def test_nothing_of_a_moment_that_was_deleted_stays_when_the_gate_closes(phone):
    page = looked_at(phone)
    delete(phone)
    phone.go("moments/trash", "Trash")
    page.locator(".moment-trash-photo[data-shown]").wait_for()
    assert "marker" in page.content()
    locks(phone, "trash")
    unlock(phone)
    page.get_by_role("button", name="Restore Xylophone-marker").click()
    page.get_by_text("The trash is empty").wait_for()
    delete(phone)
    locks(phone, "toast")
    unlock(phone)
