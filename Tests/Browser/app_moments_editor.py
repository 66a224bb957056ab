"""A moment is written, changed, counted and found on the map."""

import base64
import io
import json

from app import DESKTOP, PIN, TURN_AWAY, eventually
from app_vault import inside

MAKE = """async ([seed, width, height, exif]) => {
    const { madePicture, madeTiff, withExif } = await import("/tests/made-moments.js");
    let bytes = await madePicture(width, height, seed);
    if (exif) bytes = withExif(bytes, madeTiff(exif));
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(text);
}"""
LAKE = {
    "date": "2024:05:17 18:30:05", "offset": "+02:00", "latitude": ["N", [[47, 1], [22, 1], [0, 1]]],
    "longitude": ["E", [[8, 1], [33, 1], [0, 1]]],
}


def picture(phone, seed, width=640, height=480, exif=None, name=None):
    """A JPEG as a phone's camera makes it, for a file chooser."""
    data = phone.page.evaluate(MAKE, [seed, width, height, exif])
    return {"name": name or f"IMG_{seed:04}.jpg", "mimeType": "image/jpeg", "buffer": base64.b64decode(data)}


def opened(phone, address, heading):
    phone.go(address)
    page = phone.page
    asks = page.get_by_role("heading", name="Open your")
    asks.or_(page.get_by_role("heading", name=heading, level=1)).first.wait_for()
    page.wait_for_timeout(400)
    if asks.is_visible():
        phone.type_pin()
    page.get_by_role("heading", name=heading, level=1).wait_for()
    return page


def fresh(phone):
    """An empty form, whatever a test before left there."""
    phone.page.evaluate("() => document.querySelectorAll('dialog').forEach((one) => one.close())")
    page = opened(phone, "moments/new", "New moment")
    page.wait_for_timeout(200)
    if page.get_by_role("button", name="Begin anew").is_visible():
        page.get_by_role("button", name="Begin anew").click()
        page.get_by_text("You began this").wait_for(state="detached")
    return page


def chosen(page, *files):
    page.locator("input[type=file][multiple]").set_input_files(list(files))


def sealed(page, count):
    eventually(lambda: page.locator(".editor-tile-ready").count() == count, f"{count} sealed photos")


def moments(phone, **given):
    return inside(phone, "return (await companion.moments.list(given)).moments;", given)


def test_a_moment_is_written_with_one_hand(phone, _):
    page = fresh(phone)
    phone.picture("editor-empty")
    phone.check()
    chosen(page, picture(phone, 1, exif=LAKE), picture(phone, 2), picture(phone, 3, 480, 640))
    sealed(page, 3)
    assert page.get_by_label("Day", exact=True).input_value() == "2024-05-17"
    assert page.get_by_label("Time", exact=True).input_value() == "18:30"
    page.get_by_label("Title").fill("By the lake")
    page.get_by_label("Words").fill("We stayed until the stars were out.")
    page.get_by_role("button", name="Calm").click()
    page.get_by_role("button", name="Favourite").click()
    phone.picture("editor")
    phone.check()
    page.get_by_role("button", name="Add a place").click()
    page.get_by_role("button", name="From the photo").click()
    page.get_by_label("Name of the place").fill("Rapperswil")
    phone.picture("editor-place")
    phone.check()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => /^#\\/moments\\/[0-9a-f]{32}$/.test(location.hash)")
    [moment] = moments(phone)
    assert moment["title"] == "By the lake" and moment["mood"] == "calm" and moment["favourite"] and len(moment["photos"]) == 3
    assert moment["offset"] == 120 and moment["date"] == 1715963400, moment["date"]
    assert moment["place"]["name"] == "Rapperswil" and abs(moment["place"]["latitude"] - 47.3667) < 0.001


def kept(phone):
    """What lies sealed on the device: photos that wait for a moment, their pieces, and drafts."""
    return inside(phone, """
        const { store } = companion.device;
        const staged = await store.staged();
        const drafts = await companion.private.get("momentDrafts");
        return { staged: staged.length, drafts: Object.keys(drafts ?? {}) };""")


def written(page, title, words=""):
    page.get_by_label("Title").fill(title)
    if words:
        page.get_by_label("Words").fill(words)


def saved(page):
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => /^#\\/moments\\/[0-9a-f]{32}$/.test(location.hash)")
    return page.evaluate("() => location.hash.slice(10)")


def test_an_empty_moment_is_refused_in_words(phone, _):
    page = fresh(phone)
    page.get_by_role("button", name="Joy").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("There is nothing to save yet").wait_for()
    written(page, "   ")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("There is nothing to save yet").wait_for()
    phone.picture("editor-refused")
    phone.check()
    written(page, "Only words", "No photo at all.")
    page.get_by_label("Day", exact=True).fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Choose the day and the time").wait_for()
    page.get_by_label("Day", exact=True).fill("1999-12-31")
    page.get_by_label("Time", exact=True).fill("23:59")
    page.get_by_role("button", name="Joy").click()
    page.get_by_role("button", name="Own word").click()
    page.get_by_label("A word of your own").fill("midnightish")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="midnightish", pressed=True).wait_for()
    moment = saved(page)
    [found] = [one for one in moments(phone) if one["id"] == moment]
    assert found["mood"] == "midnightish" and found["photos"] == [] and "place" not in found
    assert found["date"] + found["offset"] * 60 == 946684740, found


def test_what_is_no_photo_is_refused_in_words_and_the_others_stay(phone, _):
    page = fresh(phone)
    good = picture(phone, 11)
    chosen(page, {"name": "notes.jpg", "mimeType": "image/jpeg", "buffer": b"This is text."}, good,
           {"name": "broken.jpg", "mimeType": "image/jpeg", "buffer": good["buffer"][:3] + bytes(400)},
           {"name": "<b>film</b>.mp4", "mimeType": "video/mp4", "buffer": b"\0\0\0\x18ftypmp42" + bytes(64)})
    page.get_by_text("notes.jpg: This is no photo").wait_for()
    page.get_by_text("broken.jpg: This browser can").wait_for()
    page.get_by_text("<b>film</b>.mp4: This is no photo").wait_for()
    page.get_by_text("A photo could not be added: see above").wait_for()
    sealed(page, 1)
    phone.picture("editor-problems")
    phone.check()
    while page.get_by_role("button", name="All right").count():
        page.get_by_role("button", name="All right").first.click()
    page.get_by_role("button", name="Remove photo 1").click()
    eventually(lambda: kept(phone)["staged"] == 0)
    # Nothing but an empty form is left: nobody is asked.
    phone.go("home", "Home")


def test_fifty_megabytes_are_taken_and_not_one_more(phone, computer):
    page = fresh(phone)
    data = picture(phone, 12)["buffer"]
    most = 50 * 1024 * 1024
    files = [computer.folder / "most.jpg", computer.folder / "more.jpg"]
    for file, size in zip(files, (most, most + 1)):
        # What follows a JPEG's end is no part of the picture.
        file.write_bytes(data + bytes(size - len(data)))
    page.locator("input[type=file][multiple]").set_input_files(files)
    page.get_by_text("more.jpg: A photo has at most 50 MB").wait_for(timeout=60_000)
    sealed(page, 1)
    page.get_by_role("button", name="Remove photo 1").click()
    page.get_by_role("button", name="All right").click()
    phone.go("home", "Home")


def test_photos_are_put_in_order_by_keys_by_dragging_and_by_words(phone, _):
    page = fresh(phone)
    ids = lambda: page.evaluate("() => [...document.querySelectorAll('.editor-picture')].map((one) => one.toDataURL().length)")
    chosen(page, picture(phone, 21), picture(phone, 22, 480, 640), picture(phone, 23, 320, 320))
    sealed(page, 3)
    eventually(lambda: page.locator(".editor-tile-drawn").count() == 3)
    first, second, third = ids()
    page.get_by_role("button", name="Photo 1 of 3").focus()
    page.keyboard.press("ArrowRight")
    assert ids() == [second, first, third]
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Photo 2 of 3"
    page.get_by_role("button", name="Photo 3 of 3").click()
    phone.picture("editor-order")
    page.get_by_role("button", name="Make it the first").click()
    eventually(lambda: ids() == [third, second, first])
    boxes = [page.locator(".editor-photo").nth(index).bounding_box() for index in (0, 2)]
    middle = lambda box: (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle(boxes[0]))
    page.mouse.down()
    page.mouse.move(*middle(boxes[1]), steps=12)
    page.mouse.up()
    assert ids() == [second, first, third]
    # A drag is no tap.
    assert page.locator("dialog").count() == 0
    written(page, "In order")
    moment = saved(page)
    [found] = [one for one in moments(phone) if one["id"] == moment]
    assert [(one["width"], one["height"]) for one in found["photos"]] == [(480, 640), (640, 480), (320, 320)]


def test_a_photo_that_is_here_already_is_noticed(phone, _):
    page = fresh(phone)
    chosen(page, picture(phone, 21))
    page.get_by_text("You have this photo already in “In order”").wait_for()
    phone.picture("editor-duplicate")
    phone.check()
    page.get_by_role("button", name="Leave it out").click()
    page.get_by_text("You have this photo already").wait_for(state="detached")
    assert page.locator(".editor-tile").count() == 0
    chosen(page, picture(phone, 24), picture(phone, 24))
    page.get_by_text("You have this photo here already").wait_for()
    page.get_by_role("button", name="Keep it").click()
    sealed(page, 2)
    page.evaluate("() => { location.hash = '#/home'; }")
    page.get_by_role("button", name="Discard it").click()
    page.get_by_role("heading", name="Home", level=1).wait_for()
    assert kept(phone) == {"staged": 0, "drafts": []}, kept(phone)


def test_what_a_camera_says_is_kept_only_where_the_person_wants_it(phone, _):
    says = {**LAKE, "description": "MARKER-OF-THE-CAMERA"}
    for keeps in (False, True):
        page = fresh(phone)
        chosen(page, picture(phone, 30 + keeps, exif=says))
        sealed(page, 1)
        if keeps:
            # Those that were chosen before are sealed once more.
            page.get_by_label("Keep the original files").check()
            sealed(page, 1)
            phone.check()
        written(page, f"Camera {keeps}")
        moment = saved(page)
        [found] = [one for one in moments(phone) if one["id"] == moment]
        told = inside(phone, """
            const { bytes } = await companion.pictures.original(given);
            return new TextDecoder("latin1").decode(bytes).includes("MARKER-OF-THE-CAMERA");""", found["photos"][0]["id"])
        assert told is keeps


def test_leaving_asks_and_does_what_it_was_told(phone, _):
    page = fresh(phone)
    written(page, "Half a sente")
    chosen(page, picture(phone, 41))
    sealed(page, 1)
    page.get_by_role("link", name="Home").click()
    page.get_by_role("heading", name="Leave this moment?").wait_for()
    phone.picture("editor-leaving")
    phone.check()
    page.get_by_role("button", name="Go on writing").click()
    assert page.evaluate("() => location.hash") == "#/moments/new"
    assert page.get_by_label("Title").input_value() == "Half a sente"
    # The browser's own way back, too.
    page.go_back()
    page.get_by_role("button", name="Keep it here for later").click()
    page.get_by_role("heading", name="New moment").wait_for(state="detached")
    assert kept(phone) == {"staged": 1, "drafts": ["new"]}, kept(phone)
    opened(phone, "moments/new", "New moment")
    page.get_by_text("You began this").wait_for()
    sealed(page, 1)
    eventually(lambda: page.locator(".editor-tile-drawn").count() == 1)
    eventually(lambda: page.evaluate("() => scrollY") == 0, "what was brought back is told where it is seen")
    assert page.get_by_label("Title").input_value() == "Half a sente"
    phone.picture("editor-draft")
    phone.check()
    page.get_by_role("button", name="Begin anew").click()
    page.get_by_text("You began this").wait_for(state="detached")
    assert page.get_by_label("Title").input_value() == ""
    eventually(lambda: kept(phone) == {"staged": 0, "drafts": []})
    phone.go("home", "Home")


def test_a_gate_that_closes_loses_nothing(phone, _):
    page = fresh(phone)
    chosen(page, picture(phone, 51))
    sealed(page, 1)
    written(page, "Locked", "MARKER-UNSAVED")
    page.evaluate("() => document.querySelector('.editor-words').focus()")
    # As a phone does that is put away: hidden, then locked, before half a second is over.
    page.evaluate(TURN_AWAY)
    inside(phone, "companion.lock();")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert "MARKER-UNSAVED" not in page.content() and page.locator("canvas").count() == 0
    phone.unlock()
    page.get_by_role("heading", name="Open your").wait_for()
    phone.type_pin()
    page.get_by_text("You began this").wait_for()
    assert page.get_by_label("Words").input_value() == "MARKER-UNSAVED"
    sealed(page, 1)
    # Nor does a page that is gone.
    page.get_by_label("Words").fill("MARKER-UNSAVED and more")
    page.wait_for_timeout(1000)
    page.reload()
    phone.unlock()
    page.get_by_role("heading", name="Open your").wait_for()
    phone.type_pin()
    page.get_by_text("You began this").wait_for()
    assert page.get_by_label("Words").input_value() == "MARKER-UNSAVED and more"
    moment = saved(page)
    assert kept(phone) == {"staged": 0, "drafts": []}
    [found] = [one for one in moments(phone) if one["id"] == moment]
    assert found["words"] == "MARKER-UNSAVED and more" and len(found["photos"]) == 1


def test_a_moment_is_changed_and_another_devices_change_is_not_lost(phone, _):
    page = phone.page
    [found] = [one for one in moments(phone) if one["title"] == "In order"]
    opened(phone, f"moments/{found['id']}/edit", "Edit moment")
    eventually(lambda: page.locator(".editor-tile-drawn").count() == 3)
    page.get_by_role("button", name="Remove photo 2").click()
    page.get_by_label("Words").fill("Now with words.")
    phone.picture("editor-edit")
    saved(page)
    [found] = [one for one in moments(phone) if one["title"] == "In order"]
    assert found["words"] == "Now with words." and [one["width"] for one in found["photos"]] == [480, 320]
    opened(phone, f"moments/{found['id']}/edit", "Edit moment")
    # Untouched, it follows.
    inside(phone, "await companion.moments.save(given, { ...given, words: 'From elsewhere.' });", found)
    eventually(lambda: page.get_by_label("Words").input_value() == "From elsewhere.")
    page.get_by_label("Words").fill("Mine.")
    inside(phone, """
        const moment = await companion.moments.read(given);
        await companion.moments.save(moment, { ...moment, words: "From elsewhere again." });""", found["id"])
    page.get_by_text("This moment was changed on another device").wait_for()
    phone.picture("editor-other")
    phone.check()
    assert page.get_by_label("Words").input_value() == "Mine."
    saved(page)
    eventually(lambda: {"Mine.", "From elsewhere again."} == {one["words"] for one in moments(phone) if one["title"].startswith("In order")})


def test_a_place_is_found_only_on_demand(phone, _):
    page = fresh(phone)
    written(page, "Here")
    page.get_by_role("button", name="Add a place").click()
    page.get_by_role("button", name="Where I am now").click()
    page.get_by_text("does not tell AppLocker where you are").wait_for()
    phone.picture("editor-place-refused")
    phone.check()
    phone.context.grant_permissions(["geolocation"], origin=phone.address)
    phone.context.set_geolocation({"latitude": -33.92487, "longitude": 18.42406})
    page.get_by_role("button", name="Where I am now").click()
    page.get_by_text("33.9249° S, 18.4241° E").wait_for()
    page.get_by_label("Name of the place").fill("Cape Town")
    page.get_by_label("Name of the place").press("Enter")
    page.get_by_role("button", name="Cape Town").wait_for()
    saved(page)
    # The next one has it at hand.
    opened(phone, "moments/new", "New moment")
    page.get_by_role("button", name="Add a place").click()
    page.get_by_role("button", name="Cape Town").click()
    page.get_by_text("33.9249° S").wait_for()
    page.get_by_role("button", name="Cape Town").click()
    page.get_by_role("button", name="Remove the place").click()
    page.get_by_role("button", name="Add a place").wait_for()
    phone.go("home", "Home")


def test_no_text_breaks_the_form(phone, _):
    page = fresh(phone)
    hostile = "<img src=x onerror=alert(1)>‮​👩‍👩‍👧‍👦" + "W" * 10_000
    written(page, hostile, hostile * 3)
    page.get_by_role("button", name="Own word").click()
    page.get_by_label("A word of your own").fill(hostile)
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Add a place").click()
    page.get_by_label("Name of the place").fill(hostile)
    page.get_by_role("button", name="Done").click()
    phone.check()
    phone.picture("editor-hostile")
    page.wait_for_timeout(1000)
    page.reload()
    phone.unlock()
    page.get_by_role("heading", name="Open your").wait_for()
    phone.type_pin()
    page.get_by_text("You began this").wait_for()
    assert page.get_by_label("Title").input_value() == hostile and len(page.get_by_label("Words").input_value()) == len(hostile) * 3
    page.evaluate("() => { location.hash = '#/home'; }")
    page.get_by_role("button", name="Discard it").click()


def test_a_desktop_takes_what_is_dropped_and_pasted(phone, _):
    desk = phone.another(DESKTOP).pair()
    try:
        page = opened(desk, "moments/new", "New moment")
        desk.picture("editor-empty")
        for kind, seed in (("drop", 61), ("paste", 62)):
            page.evaluate("""async ([kind, data, name]) => {
                const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
                const transfer = new DataTransfer();
                transfer.items.add(new File([bytes], name, { type: "image/jpeg" }));
                const target = document.querySelector(".editor-words");
                if (kind === "paste") target.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
                else for (const one of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(one, { dataTransfer: transfer, bubbles: true, cancelable: true }));
            }""", [kind, base64.b64encode(picture(desk, seed, exif=LAKE)["buffer"]).decode(), f"{kind}.jpg"])
        sealed(page, 2)
        written(page, "By the lake", "We stayed until the stars were out.")
        page.get_by_role("button", name="Calm").click()
        desk.picture("editor")
        desk.check()
        desk.becomes("dark")
        desk.picture("editor")
        # Nothing but keys.
        page.get_by_label("Words").focus()
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => /^#\\/moments\\/[0-9a-f]{32}$/.test(location.hash)")
        # Another tab writes, too: both know.
        opened(desk, "moments/new", "New moment")
        other = desk.open_page()
        other.goto(f"{desk.address}/#/moments/new")
        desk.page, page = other, desk.page
        desk.unlock()
        desk.type_pin()
        other.get_by_text("You write a moment in another tab").wait_for()
        desk.check()
        desk.quiet()
    finally:
        desk.close()


def test_without_the_hub_a_moment_is_kept_all_the_same(phone, computer):
    page = fresh(phone)
    computer.asked(["stop-hub"])
    page.get_by_text("Not connected").wait_for(timeout=30_000)
    chosen(page, picture(phone, 71))
    sealed(page, 1)
    written(page, "Without a network")
    saved(page)
    page.get_by_text("Without a network").first.wait_for()
    computer.asked(["start-hub"])
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    page.get_by_text("Not connected").wait_for(state="hidden", timeout=30_000)
    eventually(lambda: inside(phone, "return (await companion.report()).waiting;") == 0, seconds=40)
