"""Steps of the tests of the moment editor."""

import base64

from moment_steps import opened
from waiting import eventually, eventually_equals

MAKE = """async ([seed, width, height, exif]) => {
    const { createPicture, createTiff, withExif } = await import("/tests/fake-moments.js");
    const { base64 } = await import("/crypto/bytes.js");
    const bytes = await createPicture(width, height, seed);
    return base64(exif ? withExif(bytes, createTiff(exif)) : bytes);
}"""
# The metadata that a camera writes into a photo.
LAKE = {
    "date": "2024:05:17 18:30:05",
    "offset": "+02:00",
    "latitude": ["N", [[47, 1], [22, 1], [0, 1]]],
    "longitude": ["E", [[8, 1], [33, 1], [0, 1]]],
}


def picture(phone, seed, width=640, height=480, exif=None):
    """A JPEG with the metadata of a phone's camera, for a file chooser."""
    data = phone.page.evaluate(MAKE, [seed, width, height, exif])
    return {"name": f"IMG_{seed:04}.jpg", "mimeType": "image/jpeg", "buffer": base64.b64decode(data)}


def editor(phone):
    """Opens the form of a new moment, for the first time in a session."""
    return opened(phone, "moments/new", "New moment")


def chosen(page, *files):
    page.locator("input[type=file][multiple]").set_input_files(list(files))


def sealed(page, count):
    """Waits until all photos of the form are sealed and their previews are drawn."""
    for state in ("ready", "drawn"):
        eventually_equals(page.locator(f".editor-tile-{state}").count, count, f"{count} photos are {state}")


def refused(page, *sentences):
    """Opens the list of the files that could not be added, of which each has its sentence."""
    page.get_by_text(f"{len(sentences)} files couldn’t be added").click()
    for sentence in sentences:
        page.get_by_text(sentence).wait_for()


def written(page, title, words=""):
    page.get_by_label("Title").fill(title)
    if words:
        page.get_by_label("Words").fill(words)


def at_moment(page):
    """Returns the identifier of the moment that the page shows after saving."""
    page.wait_for_function("() => /^#\\/moments\\/[0-9a-f]{32}$/.test(location.hash)")
    return page.evaluate("() => location.hash.slice(10)")


def saved(page):
    page.get_by_role("button", name="Save", exact=True).click()
    return at_moment(page)


def moments(phone):
    return phone.inside("return (await companion.moments.list()).moments;")


def moment(phone, identifier):
    return phone.inside("return companion.moments.read(arg);", identifier)


def save_moment(phone, title, pictures):
    """Saves a moment with photos of these seeds, widths and heights; returns its identifier."""
    return phone.inside(
        """
        const { createPicture } = await import("/tests/fake-moments.js");
        const photos = [];
        for (const [seed, width, height] of arg.pictures) {
            const picture = new Blob([await createPicture(width, height, seed)]);
            photos.push(await companion.momentPhotos.seal(picture));
        }
        const draft = { title: arg.title, words: "", date: Date.now() / 1000, offset: 0, photos };
        return (await companion.moments.save(null, draft)).id;""",
        {"title": title, "pictures": pictures},
    )


def kept(phone):
    """What is stored sealed on the device: the number of photos without a moment, and drafts by their moment."""
    return phone.inside("""
        const staged = await companion.device.store.staged();
        const drafts = await companion.privateStorage.get("momentDrafts");
        return { staged: staged.length, drafts: drafts ?? {} };""")


def drafted(phone, title, words):
    """Waits until the draft of a new moment with this title and text is stored."""

    def is_kept():
        draft = kept(phone)["drafts"].get("new", {})
        return (draft.get("title"), draft.get("words")) == (title, words)

    eventually(is_kept, "the draft is stored")
