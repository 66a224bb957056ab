"""Photos with the metadata of a camera, created in the page."""

# `createPhoto(seed, date, offset, place)` returns a small photo with this metadata as a Blob; `createPicture` returns
# one without metadata.
CAMERA = """
    const { createPicture, createTiff, withExif } = await import("/tests/fake-moments.js");
    const createPhoto = async (seed, date, offset, place = {}) => {
        const picture = await createPicture(640, 480, seed);
        return new Blob([withExif(picture, createTiff({ date, offset, ...place }))]);
    };
"""
