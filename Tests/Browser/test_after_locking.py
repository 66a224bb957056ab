"""What remains in a browser after the app is locked, or after the browser deleted its data."""

import pytest

from note_steps import AUTOSAVE
from overview_steps import make
from pending_work import COUNT_WORK
from waiting import eventually

pytestmark = pytest.mark.computer_is_off

MARKER = "the blue envelope under the stair"


def test_locking_removes_the_screens_content(phone):
    page = phone.page
    make(phone, "blocked", 1)
    for screen, title in (("home", "Home"), ("alerts", "Alerts"), ("apps", "Apps")):
        phone.go(screen, title)
        page.get_by_text("diary").first.wait_for()
        phone.lock()
        assert "diary" not in page.evaluate("() => document.documentElement.outerHTML")
        phone.unlock()


def heap_holds(session, text):
    """Whether a heap snapshot of everything that JavaScript can reach contains it."""
    parts = []

    def add(event):
        parts.append(event["chunk"])

    session.on("HeapProfiler.addHeapSnapshotChunk", add)
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "captureNumericValue": False})
    session.remove_listener("HeapProfiler.addHeapSnapshotChunk", add)
    return text in "".join(parts)


@pytest.mark.clock
def test_nothing_is_reachable_after_locking(phone):
    page = phone.page
    phone.go("notes", "Notes")
    phone.confirm()
    page.get_by_role("button", name="Write a note").click()
    page.get_by_label("Title").fill("Safe")
    page.get_by_label("Text").fill(MARKER)
    page.clock.fast_forward(AUTOSAVE)
    page.get_by_text("Saved", exact=True).wait_for()
    session = phone.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    assert heap_holds(session, MARKER), "the search finds present text"
    phone.go("settings", "Settings")
    page.evaluate(COUNT_WORK)
    page.get_by_role("button", name="Lock now").click()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    # A snapshot takes seconds.
    page.evaluate("() => settled()")
    other = phone.context.new_cdp_session(page)
    other.send("HeapProfiler.enable")
    # Operations that were running when the app locked end by themselves.
    eventually(lambda: not heap_holds(other, MARKER), "no note is reachable while locked")
    assert MARKER not in page.evaluate("() => document.documentElement.outerHTML")
    phone.unlock()


def test_data_evicted_by_the_browser_is_reported_with_instructions(phone):
    page = phone.page
    session = phone.context.new_cdp_session(page)
    page.goto("about:blank")
    session.send(
        "Storage.clearDataForOrigin",
        {"origin": phone.address, "storageTypes": "indexeddb,cache_storage,service_workers"},
    )
    page.goto(phone.address)
    page.get_by_role("heading", name="This browser lost AppLocker’s data").wait_for()
    phone.picture("lost")
    phone.check()
    # A new link is sufficient.
    phone.name = "Found again"
    phone.pair()
