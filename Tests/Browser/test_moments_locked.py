"""After locking, nothing of the moments and notes can be read in the browser."""

import pytest

from moment_steps import KEPT_ON_THE_DEVICE, WATCH_URLS, kept, named, opened, timeline
from pending_work import COUNT_WORK
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

MARKED = ["Xylophone-marker", "Quetzal-marker words", 0, "Mood-marker", "Place-marker", [[1200, 900]], False]

# Whether this browser stores any of these words, how many bytes it stores, and how many files its caches have.
KEPT_WORDS = """async (words) => {
    const { everythingIn } = await import("/tests/fake-moments.js");
    const bytes = new TextDecoder("latin1").decode(await everythingIn("applocker"));
    const cached = async (name) => (await (await self.caches.open(name)).keys()).map(({ url }) => url);
    const caches = (await Promise.all((await self.caches.keys()).map(cached))).flat();
    const text = bytes + JSON.stringify({ ...localStorage, ...sessionStorage }) + caches;
    return [new RegExp(words, "i").test(text), bytes.length, caches.length];
}"""


def heap(phone):
    """A heap snapshot of everything that JavaScript can reach, as text."""
    session, parts = phone.context.new_cdp_session(phone.page), []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "captureNumericValue": False})
    session.detach()
    return "".join(parts)


def reached(phone):
    """The words of the moment that JavaScript can reach."""
    text = heap(phone)
    return [words for words in ("Quetzal-marker", "Xylophone-marker", "Place-marker", "Remark-marker") if words in text]


def looked_at(phone):
    """Opens a photo of the moment; WATCH_URLS is installed before anything of it is shown."""
    phone.page.evaluate(WATCH_URLS)
    kept(phone, [MARKED], seed=60)
    page = opened(phone)
    page.locator(".moment-photo[data-shown]").first.wait_for()
    look_at(page)
    return page


def look_at(page):
    named(page, "Xylophone").click()
    page.locator(".moment-slide-large[data-shown]").first.wait_for()


def comment_on(page):
    """Sends a comment, and begins another one."""
    page.get_by_role("button", name="Add a comment").click()
    page.get_by_label("Your comment", exact=True).fill("Remark-marker words")
    page.get_by_role("button", name="Send").click()
    page.locator(".remark", has_text="Remark-marker").wait_for()
    page.get_by_label("Your comment", exact=True).fill("Remark-marker unsent")


def delete(phone):
    timeline(phone)
    named(phone.page, "Xylophone").click()
    phone.page.get_by_role("button", name="Delete this moment").click()
    phone.page.get_by_role("button", name="Undo").wait_for()


def locks(phone, where):
    """Locks the app and checks that nothing of the moment remains in page or storage. Returns the number of cached
    files."""
    page = phone.page
    phone.lock()
    eventually_equals(lambda: page.evaluate("urls.size"), 0, f"object URLs after {where}")
    assert page.locator("img[src^='blob:'], dialog, .moment-card, .moment-detail").count() == 0
    assert "marker" not in page.content(), where
    assert "marker" not in page.title()
    words = "xylophone|quetzal-marker|mood-marker|place-marker|remark-marker"
    is_found, size, cached = page.evaluate(KEPT_WORDS, words)
    assert is_found is False and size > 10_000, (where, size)
    return cached


def lock_and_settle(phone):
    """Locks the app, and waits until it does nothing any more: a heap snapshot takes seconds."""
    phone.page.evaluate(COUNT_WORK)
    phone.lock()
    phone.page.evaluate("() => settled()")


def unlock(phone):
    phone.unlock()
    phone.confirm("Open your moments")


# A hidden page has no frames, with which the event comes.
HOLD_CLOSE_EVENTS = """() => addEventListener("close", (event) => {
    if (event.isTrusted) event.stopImmediatePropagation();
}, { capture: true })"""


def test_nothing_of_an_open_photo_remains_after_a_hidden_page_was_locked(phone):
    page = looked_at(phone)
    page.get_by_role("button", name="Zoom photo 1 of 1").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    page.evaluate(HOLD_CLOSE_EVENTS)
    page.evaluate(COUNT_WORK)
    locks(phone, "hidden")
    page.evaluate("() => settled()")
    eventually_equals(lambda: reached(phone), [], "no words are reachable while locked")


@pytest.mark.service_worker
def test_nothing_of_an_open_moment_remains_after_locking(phone):
    page = looked_at(phone)
    eventually(lambda: page.evaluate(KEPT_ON_THE_DEVICE), "the caches are filled")
    comment_on(page)
    assert "Remark-marker words" in page.content()
    assert locks(phone, "detail") > 100
    unlock(phone)
    page.get_by_role("button", name="Zoom photo 1 of 1").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    page.locator(".remark", has_text="Remark-marker words").wait_for(state="attached")
    present = heap(phone)
    assert "Quetzal-marker words" in present and "Remark-marker words" in present, "present text is not found"
    assert "marker" in page.content()
    page.evaluate(COUNT_WORK)
    locks(phone, "closely")
    page.evaluate("() => settled()")
    # Running operations end by themselves.
    eventually_equals(lambda: reached(phone), [], "no words are reachable while locked")
    unlock(phone)
    timeline(phone)
    page.locator(".moment-photo[data-shown]").first.wait_for()
    assert "marker" in page.content()
    locks(phone, "timeline")
    unlock(phone)


def test_nothing_of_a_moment_that_was_left_while_it_opened_remains_after_locking(phone):
    page = looked_at(phone)
    address = page.evaluate("location.hash")
    phone.go("home", "Home")
    # Home is opened before the moment is read.
    page.evaluate(
        """(address) => {
        window.addEventListener("hashchange", () => { location.hash = "#/home"; }, { once: true });
        location.hash = address;
    }""",
        address,
    )
    eventually_equals(lambda: page.evaluate("location.hash"), "#/home")
    # Its photo would have been opened before this one.
    phone.go(address.removeprefix("#/"), "Moment")
    page.locator(".moment-slide-large[data-shown]").first.wait_for()
    locks(phone, "left while it opened")
    unlock(phone)


def test_nothing_of_a_deleted_moment_remains_after_locking(phone):
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


def test_nothing_of_a_note_that_was_left_while_it_opened_remains_after_locking(phone):
    page = phone.page
    # Not in the script: V8 keeps the source of a script for a while.
    content = {"title": "Note-marker", "body": "Quetzal-marker of a note"}
    note = phone.inside("return (await companion.notes.save(null, arg)).id;", content)
    phone.go("notes")
    phone.confirm("Open your notes")
    named_note = page.get_by_text("Note-marker").first
    named_note.wait_for()
    page.evaluate(
        """(address) => {
        window.addEventListener("hashchange", () => { location.hash = "#/home"; }, { once: true });
        location.hash = address;
    }""",
        f"#/notes/{note}",
    )
    eventually_equals(lambda: page.evaluate("location.hash"), "#/home")
    phone.go("notes", "Notes")
    named_note.wait_for()
    assert "Quetzal-marker" in heap(phone), "present text is not found"
    lock_and_settle(phone)
    eventually(lambda: "Quetzal-marker" not in heap(phone), "no words are reachable while locked")
