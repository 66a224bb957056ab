"""Photos and text that another app shares with AppLocker: a form that is posted to its address. A website can post the
same form."""

import contextlib
import http.server
import os
import threading

import pytest

from disguise_steps import disguised, harmless, lock, open_with
from editor_steps import drafted, picture, sealed
from moment_steps import KEPT_ON_THE_DEVICE
from waiting import eventually, eventually_equals

pytestmark = [pytest.mark.service_worker, pytest.mark.computer_is_off]

FORM = """<!doctype html><html lang="en"><title>Another site</title>
<form method="post" enctype="ENCTYPE" action="ADDRESS/share">
<input name="title"><textarea name="text"></textarea><input name="url"><input type="file" name="photos" multiple>
<button>Send</button></form></html>"""
MOMENTS = """
    const { moments } = await companion.moments.list();
    return moments.map(({ title, words, photos }) => [title, words, photos.length]);"""
# Everything that this browser stores of AppLocker, and whether one of the words is in it.
STORED = """async () => {
    const { everythingIn } = await import("/tests/fake-moments.js");
    const bytes = new TextDecoder("latin1").decode(await everythingIn("applocker"));
    return [/MARKER/.test(bytes + JSON.stringify({ ...localStorage, ...sessionStorage })), bytes.length > 10_000];
}"""


@contextlib.contextmanager
def other_site(address, enctype="multipart/form-data"):
    """A site of another origin, with a form for AppLocker."""
    body = FORM.replace("ADDRESS", address).replace("ENCTYPE", enctype).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def post(phone, files=(), enctype="multipart/form-data", **fields):
    """Posts the form in a new tab, which shows AppLocker then, locked; the others are closed."""
    eventually(lambda: phone.page.evaluate(KEPT_ON_THE_DEVICE), "the app's files are cached")
    page = phone.open_page()
    with other_site(phone.address, enctype) as address:
        page.goto(address)
        for name, value in fields.items():
            page.locator(f"[name={name}]").fill(value)
        page.locator("[name=photos]").set_input_files(list(files))
        page.get_by_role("button", name="Send").click()
        page.wait_for_url(f"{phone.address}/**")
    phone.page.close()
    phone.page = page
    return page


def opened(phone):
    """Unlocks and confirms the PIN, as for every moment."""
    phone.unlock()
    phone.confirm("Open your moments")


def test_shared_photos_and_text_become_a_draft_once_the_person_agrees(phone):
    files = [picture(phone, seed) for seed in (81, 82)]
    page = post(phone, files, title="MARKER-title", text="MARKER-text", url="https://a.example/")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    # While locked, nothing of it is shown or stored.
    assert "MARKER" not in page.content() and "MARKER" not in page.url
    assert page.evaluate(STORED) == [False, True]
    opened(phone)
    page.get_by_role("heading", name="Add what was shared?").wait_for()
    assert page.get_by_label("Title").input_value() == ""
    assert page.locator(".editor-tile").count() == 0
    phone.check()
    for theme in ("light", "dark"):
        phone.becomes(theme)
        phone.picture("share-question")
    page.get_by_role("button", name="Add", exact=True).click()
    sealed(page, 2)
    assert page.get_by_label("Title").input_value() == "MARKER-title"
    assert page.get_by_label("Words").input_value() == "MARKER-text\nhttps://a.example/"
    phone.check()
    phone.picture("share-draft")
    # Saved by the person alone.
    assert phone.inside(MOMENTS) == []
    assert page.evaluate(STORED) == [False, True]
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => /^#\\/moments\\/[0-9a-f]{32}$/.test(location.hash)")
    assert phone.inside(MOMENTS) == [["MARKER-title", "MARKER-text\nhttps://a.example/", 2]]


def test_what_another_site_sends_is_discarded_unless_the_person_agrees(phone):
    page = post(phone, [picture(phone, 83)], title="MARKER-title")
    opened(phone)
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("heading", name="Add what was shared?").wait_for(state="detached")
    assert page.get_by_label("Title").input_value() == "" and page.locator(".editor-tile").count() == 0
    assert phone.inside(MOMENTS) == []
    # It is gone: neither a reload nor the address returns it.
    address = page.url
    assert "shared" not in address
    page.reload()
    opened(phone)
    page.get_by_role("heading", name="New moment").wait_for()
    assert "MARKER" not in page.content() and page.locator("dialog").count() == 0
    assert phone.inside("return await companion.privateStorage.get('momentDrafts');") is None


def test_a_draft_that_was_there_stays(phone):
    page = phone.page
    phone.go("moments/new")
    phone.confirm("Open your moments")
    page.get_by_label("Title").fill("Begun before")
    page.get_by_label("Words").fill("First")
    drafted(phone, "Begun before", "First")
    page = post(phone, title="Another title", text="Second")
    opened(phone)
    page.get_by_role("button", name="Add", exact=True).click()
    # The answer counts once the dialog is closed, which the page learns with its next frame.
    page.get_by_role("heading", name="Add what was shared?").wait_for(state="detached")
    assert page.get_by_label("Title").input_value() == "Begun before"
    assert page.get_by_label("Words").input_value() == "First\nAnother title\nSecond"


def test_too_many_files_and_other_files_are_left_out_with_a_sentence(phone, tmp_path):
    def file(name, content, size=None):
        path = tmp_path / name
        path.write_bytes(content)
        os.truncate(path, size or len(content))
        return path

    photo = picture(phone, 84, 64, 48)["buffer"]
    photos = [file(f"{index}.jpg", photo) for index in range(22)]
    large = file("large.jpg", photo, 50_000_001)
    others = [file("a.txt", b"text"), file("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>")]
    page = post(phone, [large, *photos, *others])
    opened(phone)
    page.get_by_text("20 photos were sent to AppLocker").wait_for()
    page.get_by_text("3 photos left out: at most 20 can be shared at once").wait_for()
    page.get_by_text("2 files left out: only photos can be shared.").wait_for()
    phone.picture("share-left-out")
    page.get_by_role("button", name="Discard").click()
    page = post(phone, others)
    opened(phone)
    page.get_by_role("heading", name="Nothing was added").wait_for()
    phone.check()
    page.get_by_role("button", name="Close").click()
    # What only claims to be a photo is refused by the editor.
    page = post(phone, [file("b.jpg", b"no photo")])
    opened(phone)
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("b.jpg: ").wait_for()
    assert page.locator(".editor-tile").count() == 0


def test_a_decoy_session_shows_the_same_question(phone):
    phone.inside("await companion.decoy.set(arg);", "318245")
    page = post(phone, title="MARKER-title")
    phone.unlock("318245")
    sheet = page.get_by_role("heading", name="Open your moments")
    sheet.wait_for()
    phone.type_pin("318245")
    sheet.wait_for(state="detached")
    page.get_by_text("A text was sent to AppLocker").wait_for()


def test_a_calculator_receives_nothing(phone):
    disguised(phone)
    lock(phone)
    eventually_equals(lambda: phone.stored("guise"), "calculator", "the worker has the disguise")
    page = post(phone, title="MARKER-title")
    eventually_equals(lambda: page.url, f"{phone.address}/")
    harmless(page)
    assert page.evaluate(STORED) == [False, True]
    open_with(page)
    phone.go("moments/new")
    phone.confirm("Open your moments")
    page.get_by_role("heading", name="New moment").wait_for()
    assert page.get_by_label("Title").input_value() == "" and page.locator("dialog").count() == 0
    assert phone.inside("return await companion.privateStorage.get('momentDrafts');") is None


def test_a_form_that_is_no_share_opens_the_app_alone(phone):
    page = post(phone, enctype="text/plain", title="MARKER-title")
    eventually_equals(lambda: page.url.split("#")[0], f"{phone.address}/")
    phone.unlock()
    page.get_by_role("heading", name="Home", level=1).wait_for()
    assert page.locator("dialog").count() == 0


def test_a_page_that_is_reloaded_before_the_pin_reports_the_loss(phone):
    page = post(phone, title="MARKER-title")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    page.reload()
    opened(phone)
    page.get_by_text("What was shared is gone. Share it once more.").wait_for()
    assert page.get_by_label("Title").input_value() == "" and page.locator("dialog").count() == 0
