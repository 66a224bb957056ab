"""Photos with the metadata of a camera, created in the page."""

# `made(seed, date, offset, place)` returns a small photo with this metadata as a Blob; `madePicture` returns one
# without metadata.
CAMERA = """
    const { madePicture, madeTiff, withExif } = await import("/tests/made-moments.js");
    const made = async (seed, date, offset, place = {}) => {
        const picture = await madePicture(640, 480, seed);
        return new Blob([withExif(picture, madeTiff({ date, offset, ...place }))]);
    };
"""
