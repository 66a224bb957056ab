"""Pictures as a camera writes them, made in the page."""

# `made(seed, date, offset, place)`: a small one with these facts in it, as a Blob; `madePicture`: without any.
CAMERA = """
    const { madePicture, madeTiff, withExif } = await import("/tests/made-moments.js");
    const made = async (seed, date, offset, place = {}) => new Blob([withExif(await madePicture(640, 480, seed), madeTiff({ date, offset, ...place }))]);
"""
