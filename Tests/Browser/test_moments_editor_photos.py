"""The photos in the moment editor: chosen, refused, reordered, and recognized as duplicates."""

import pytest

from editor_steps import LAKE, chosen, editor, kept, moment, picture, refused, save_moment, saved, sealed, written
from moment_steps import ANIMATION
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off


def test_invalid_photos_are_refused_with_a_message_and_the_others_stay(phone):
    page = editor(phone)
    good = picture(phone, 11)
    chosen(
        page,
        {"name": "notes.jpg", "mimeType": "image/jpeg", "buffer": b"This is text."},
        good,
        {"name": "broken.jpg", "mimeType": "image/jpeg", "buffer": good["buffer"][:3] + bytes(400)},
        {"name": "<b>film</b>.mp4", "mimeType": "video/mp4", "buffer": b"\0\0\0\x18ftypmp42" + bytes(64)},
    )
    refused(
        page,
        "notes.jpg: This file is not a supported photo",
        "broken.jpg: The file ends in the middle of the photo",
        "<b>film</b>.mp4: This browser can’t play this video or recording",
    )
    page.get_by_text("A file could not be added: see above").wait_for()
    sealed(page, 1)
    phone.picture("editor-problems")
    phone.check()
    page.get_by_role("button", name="OK", exact=True).click()
    assert page.get_by_role("button", name="OK", exact=True).count() == 0
    page.get_by_role("button", name="Remove photo 1").click()
    eventually_equals(lambda: kept(phone)["staged"], 0)
    # Only an empty form is left: no confirmation is needed.
    phone.go("home", "Home")


def test_a_photo_that_cant_be_opened_is_refused_with_the_true_reason(phone):
    page = editor(phone)
    whole = picture(phone, 13)["buffer"]
    damaged = bytearray(whole)
    # The height in the frame header, of which there is one.
    frame = damaged.index(b"\xff\xc0")
    damaged[frame + 5 : frame + 9] = bytes(4)
    chosen(
        page,
        {"name": "half.jpg", "mimeType": "image/jpeg", "buffer": whole[: len(whole) // 2][:120]},
        {"name": "phone.jpg", "mimeType": "image/jpeg", "buffer": b"\0\0\0\x18ftypheic" + bytes(64)},
        {"name": "damaged.jpg", "mimeType": "image/jpeg", "buffer": bytes(damaged)},
    )
    refused(
        page,
        "half.jpg: The file ends in the middle of the photo",
        "phone.jpg: This browser can’t open HEIC photos. An iPhone converts them",
        "damaged.jpg: This photo is damaged",
    )


def test_an_animated_photo_is_announced_before_it_is_saved_and_a_pixel_stays_small(phone):
    page = editor(phone)
    chosen(page, {"name": "party.gif", "mimeType": "image/gif", "buffer": ANIMATION})
    sealed(page, 1)
    page.get_by_text("“party.gif” is animated. Everline shows the first picture; “Keep original files”").wait_for()
    page.get_by_role("switch", name="Keep original files").click()
    page.get_by_text("Everline shows the first picture, and the animation full screen.").wait_for()
    sealed(page, 1)
    phone.picture("editor-animated")
    phone.check()
    saved(page)
    page.locator(".moment-slide-large[data-shown]").wait_for()
    assert page.locator(".moment-slide-large").bounding_box()["width"] <= 4
    phone.picture("moment-pixel")


def test_photos_of_more_than_fifty_megabytes_are_refused(phone, computer):
    page = editor(phone)
    data = picture(phone, 12)["buffer"]
    most = 50 * 1024 * 1024
    files = [computer.folder / "most.jpg", computer.folder / "more.jpg"]
    for file, size in zip(files, (most, most + 1), strict=True):
        # Bytes after a JPEG's end are not part of the picture.
        file.write_bytes(data + bytes(size - len(data)))
    chosen(page, *files)
    page.get_by_text("more.jpg: A photo has at most 50 MB").wait_for()
    sealed(page, 1)
    page.get_by_role("button", name="Remove photo 1").click()
    page.get_by_role("button", name="OK", exact=True).click()
    phone.go("home", "Home")


def test_photos_are_reordered_by_keys_dragging_and_buttons(phone):
    page = editor(phone)
    chosen(page, picture(phone, 21), picture(phone, 22, 480, 640), picture(phone, 23, 320, 320))
    sealed(page, 3)
    first, second, third = order(page)
    assert len({first, second, third}) == 3
    page.get_by_role("button", name="Photo 1 of 3").focus()
    page.keyboard.press("ArrowRight")
    assert order(page) == [second, first, third]
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Photo 2 of 3"
    page.get_by_role("button", name="Photo 3 of 3").click()
    phone.picture("editor-order")
    page.get_by_role("button", name="Move to the front").click()
    eventually_equals(lambda: order(page), [third, second, first])
    boxes = [page.locator(".editor-photo").nth(index).bounding_box() for index in (0, 2)]
    start, end = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=12)
    page.mouse.up()
    assert order(page) == [second, first, third]
    # A drag is not a tap.
    assert page.locator("dialog").count() == 0
    written(page, "In order")
    found = moment(phone, saved(page))
    assert [(one["width"], one["height"]) for one in found["photos"]] == [(480, 640), (640, 480), (320, 320)]


def test_a_photo_has_a_description_that_is_read_shown_and_found(phone):
    page = editor(phone)
    chosen(page, picture(phone, 31), picture(phone, 32, 480, 640))
    sealed(page, 2)
    page.get_by_role("button", name="Photo 2 of 2").click()
    page.get_by_role("button", name="Describe this photo").click()
    page.get_by_label("Description").fill("Anna on the tram <b>")
    phone.picture("editor-description")
    phone.check()
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Photo 2 of 2, Anna on the tram <b>").wait_for()
    written(page, "Lisbon")
    found = moment(phone, saved(page))
    assert [one.get("description") for one in found["photos"]] == [None, "Anna on the tram <b>"]
    page.get_by_role("listitem", name="Photo 2 of 2, Anna on the tram <b>, Lisbon").wait_for()
    page.get_by_role("button", name="Zoom photo 1 of 2").click()
    viewer = page.get_by_role("dialog", name="Photo")
    viewer.get_by_role("button", name="Next photo").click()
    page.locator(".moment-view-words", has_text="Anna on the tram <b>").wait_for()
    viewer.get_by_role("img", name="Photo 2 of 2, Anna on the tram").first.wait_for()
    phone.picture("moment-description")
    phone.check()
    viewer.get_by_role("button", name="Previous photo").click()
    eventually_equals(page.locator(".moment-view-words").text_content, "")
    viewer.get_by_role("button", name="Close").click()
    # Searches find it, and an edit of something else keeps it.
    moments = "return (await companion.moments.list({ search: 'the TRAM' })).moments.map(({ title }) => title);"
    assert phone.inside(moments) == ["Lisbon"]
    page.get_by_role("button", name="Favourite").click()
    eventually_equals(lambda: moment(phone, found["id"])["photos"][1].get("description"), "Anna on the tram <b>")
    # An empty one removes it.
    page.get_by_role("button", name="Edit this moment").click()
    page.get_by_role("button", name="Photo 2 of 2, Anna on the tram <b>").click()
    page.get_by_role("button", name="Change the description").click()
    page.get_by_label("Description").fill(" ")
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    assert "description" not in moment(phone, saved(page))["photos"][1]


def order(page):
    """The previews, each by the length of its picture's data."""
    return page.evaluate("() => [...document.querySelectorAll('.editor-picture')].map((one) => one.toDataURL().length)")


def test_a_duplicate_photo_is_detected(phone):
    save_moment(phone, "In order", [[21, 640, 480]])
    page = editor(phone)
    chosen(page, picture(phone, 21))
    page.get_by_text("This photo is already in “In order”").wait_for()
    sealed(page, 1)
    phone.picture("editor-duplicate")
    phone.check()
    page.get_by_role("button", name="Skip it").click()
    page.get_by_text("This photo is already in").wait_for(state="detached")
    assert page.locator(".editor-tile").count() == 0
    chosen(page, picture(phone, 24), picture(phone, 24))
    page.get_by_text("This photo is already in this moment").wait_for()
    page.get_by_role("button", name="Keep it").click()
    sealed(page, 2)
    phone.go("home")
    page.get_by_role("button", name="Discard it").click()
    page.get_by_role("heading", name="Home", level=1).wait_for()
    assert kept(phone) == {"staged": 0, "drafts": {}}, kept(phone)


def test_camera_metadata_is_kept_only_on_request(phone):
    page = editor(phone)
    metadata = {**LAKE, "description": "MARKER-OF-THE-CAMERA"}
    for keeps in (False, True):
        phone.go("moments/new", "New moment")
        chosen(page, picture(phone, 30 + keeps, exif=metadata))
        sealed(page, 1)
        if keeps:
            # The photos that were chosen before are sealed again.
            page.get_by_label("Keep original files").check()
            sealed(page, 1)
            phone.check()
        written(page, f"Camera {keeps}")
        found = moment(phone, saved(page))
        has_marker = phone.inside(
            """
            const { bytes } = await companion.momentPhotos.original(arg);
            return new TextDecoder("latin1").decode(bytes).includes("MARKER-OF-THE-CAMERA");""",
            found["photos"][0]["id"],
        )
        assert has_marker is keeps
