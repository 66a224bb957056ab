"""What is left of moments when the gate has closed: nothing that can be read."""

import time

from app import eventually
from app_moments import kept, named, timeline
from moment_steps import opened


def heap(phone):
    """A snapshot of everything that JavaScript can reach, as text."""
    session, parts = phone.context.new_cdp_session(phone.page), []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "captureNumericValue": False})
    session.detach()
    return "".join(parts)


def test_nothing_of_a_moment_stays_when_the_gate_closes(phone, _):
    page = opened(phone)
    kept(phone, [["Xylophone-marker", "Quetzal-marker words", 0, "Mood-marker", "Place-marker", [[1200, 900]], False]], seed=60)
    timeline(phone)
    page.evaluate("""() => {
        window.urls = new Set();
        const [make, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
        URL.createObjectURL = (blob) => { const url = make.call(URL, blob); window.urls.add(url); return url; };
        URL.revokeObjectURL = (url) => { window.urls.delete(url); revoke.call(URL, url); };
    }""")
    timeline(phone)
    page.locator(".moment-photo[data-shown]").first.wait_for()
    named(page, "Xylophone").click()
    page.locator(".moment-slide-large[data-shown]").first.wait_for()
    for where in ("detail", "closely", "timeline", "trash", "toast"):
        if where == "closely":
            page.get_by_role("button", name="Look at photo 1 of 1 closely").click()
            page.locator(".moment-view-large[data-shown]").wait_for()
            assert "Quetzal-marker words" in heap(phone), "the search finds what is there"
        if where == "timeline":
            timeline(phone)
            page.locator(".moment-photo[data-shown]").first.wait_for()
        if where in ("trash", "toast"):
            timeline(phone)
            named(page, "Xylophone").click()
            page.get_by_role("button", name="Delete this moment").click()
            page.get_by_role("button", name="Undo").wait_for()
        if where == "trash":
            phone.go("moments/trash", "Trash")
            page.locator(".moment-trash-photo[data-shown]").wait_for()
        assert "marker" in page.content() or where == "toast"
        page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
        page.get_by_role("heading", name="AppLocker is locked").wait_for()
        eventually(lambda: page.evaluate("urls.size") == 0, f"object URLs after {where}")
        assert page.locator("img[src^='blob:'], dialog, .moment-card, .moment-detail").count() == 0
        assert "marker" not in page.content(), where
        assert "marker" not in page.title()
        kept_words = page.evaluate("""async (words) => {
            const { everythingIn } = await import("/tests/made-moments.js");
            const bytes = new TextDecoder("latin1").decode(await everythingIn("applocker"));
            const caches = (await Promise.all((await self.caches.keys()).map(async (name) => (await (await self.caches.open(name)).keys()).map(({ url }) => url)))).flat();
            return [new RegExp(words, "i").test(bytes + JSON.stringify({ ...localStorage, ...sessionStorage }) + caches), bytes.length];
        }""", "xylophone|quetzal|mood-marker|place-marker")
        assert kept_words[0] is False and kept_words[1] > 10_000, (where, kept_words)
        if where == "closely":
            # What was under way ends by itself.
            time.sleep(2)
            reached = heap(phone)
            for words in ("Quetzal-marker", "Xylophone-marker", "Place-marker"):
                assert words not in reached, f"{words} can be reached while the gate is closed"
        phone.unlock()
        page.get_by_role("heading", name="Open your moments").wait_for()
        phone.type_pin()
        page.get_by_role("heading", name="Open your moments").wait_for(state="detached")
        if where == "trash":
            page.get_by_role("button", name="Restore Xylophone-marker").click()
            page.get_by_text("The trash is empty").wait_for()
