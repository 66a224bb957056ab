#!/usr/bin/env python3
"""Writes the pictures beside this file, with Pillow, piexif and pillow-heif: pip install pillow piexif pillow-heif;
./make_fixtures.py

Every picture has a red, a green, a blue and a white quarter when it is upright, so that a wrong rotation is visible."""

import io
import pathlib
import subprocess

import piexif
import pillow_heif
from PIL import Image, ImageCms, ImageOps
from PIL.PngImagePlugin import PngInfo

FOLDER = pathlib.Path(__file__).parent
MARKER = "MARKER-OF-THE-CAMERA"


def upright():
    image = Image.new("RGB", (96, 64))
    for box, colour in {(0, 0): "red", (48, 0): "lime", (0, 32): "blue", (48, 32): "white"}.items():
        image.paste(Image.new("RGB", (48, 32), colour), box)
    return image


def exif(orientation=1, time=b"2024:05:17 18:30:05", zone=b"+02:00", place=True):
    rationals = [((47, 1), (22, 1), (3684, 100)), ((8, 1), (32, 1), (3012, 100))]
    gps = {1: b"N", 2: rationals[0], 3: b"E", 4: rationals[1]}
    thumbnail = io.BytesIO()
    upright().resize((24, 16)).save(thumbnail, "JPEG")
    return piexif.dump(
        {
            "0th": {piexif.ImageIFD.Orientation: orientation, piexif.ImageIFD.Make: MARKER.encode()},
            "Exif": {piexif.ExifIFD.DateTimeOriginal: time, piexif.ExifIFD.OffsetTimeOriginal: zone},
            "GPS": gps if place else {},
            "1st": {},
            "thumbnail": thumbnail.getvalue(),
        }
    )


# The inverse of the transformation that makes a stored picture upright.
INVERSE = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def main():
    for orientation, turn in INVERSE.items():
        stored = upright() if turn is None else upright().transpose(turn)
        path = FOLDER / f"orientation-{orientation}.jpg"
        stored.save(path, quality=95, subsampling=0, exif=exif(orientation))
        assert ImageOps.exif_transpose(Image.open(path)).size == (96, 64)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    upright().save(
        FOLDER / "everything.jpg",
        quality=95,
        exif=exif(),
        icc_profile=profile,
        comment=MARKER.encode(),
        progressive=True,
        xmp=f"<x:xmpmeta>{MARKER}</x:xmpmeta>".encode(),
    )
    with open(FOLDER / "everything.jpg", "ab") as file:
        file.write(b"\xff\xd8behind its end: " + MARKER.encode() + b"\xff\xd9")
    upright().save(
        FOLDER / "southwest.jpg",
        exif=piexif.dump(
            {
                "0th": {},
                "Exif": {piexif.ExifIFD.DateTimeDigitized: b"1999:12:31 23:59:59"},
                "GPS": {1: b"S", 2: ((33, 1), (51, 1), (36, 1)), 3: b"W", 4: ((70, 1), (30, 1), (0, 1))},
            }
        ),
    )
    upright().save(FOLDER / "silent.jpg")
    texts = PngInfo()
    texts.add_text("Comment", MARKER)
    transparent = upright().convert("RGBA")
    transparent.paste((0, 0, 0, 0), (0, 0, 48, 32))
    transparent.save(FOLDER / "transparent.png", pnginfo=texts, exif=exif())
    upright().save(FOLDER / "picture.webp", exif=exif(), lossless=True)
    upright().save(FOLDER / "lossy.webp", quality=90)
    upright().save(FOLDER / "picture.gif")
    frames = [upright().rotate(180)]
    upright().save(FOLDER / "animated.gif", save_all=True, append_images=frames)
    upright().save(FOLDER / "animated.webp", save_all=True, append_images=frames, lossless=True)
    transparent.save(FOLDER / "animated.png", save_all=True, append_images=[transparent.rotate(180)])
    upright().convert("CMYK").save(FOLDER / "print.jpg", quality=95)
    heif(profile)


def heif(profile):
    """As iPhones write them: turned by a property of HEIF, which the Exif data repeats."""
    pillow_heif.register_heif_opener()
    path = FOLDER / "turned.heic"
    upright().transpose(INVERSE[6]).save(path, quality=90, exif=exif(6), icc_profile=profile, thumbnails=[32])
    # The library replaces the orientation by 1; a phone doesn't.
    one, six = (bytes([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, number]) for number in (1, 6))
    content = path.read_bytes()
    assert b"irot" in content and content.count(one) + content.count(six) == 1
    path.write_bytes(content.replace(one, six))
    transparent = upright().convert("RGBA")
    transparent.paste((0, 0, 0, 0), (0, 0, 48, 32))
    transparent.save(FOLDER / "transparent.heic", quality=90)
    several = pillow_heif.from_pillow(upright())
    several.add_from_pillow(upright().rotate(180))
    several.save(FOLDER / "several.heic", quality=90)
    subprocess.run(
        ["heif-enc", "-A", "-q", "60", FOLDER / "transparent.png", "-o", FOLDER / "picture.avif"], check=True
    )
    path = FOLDER / "numbered.avif"
    subprocess.run(["heif-enc", "-A", "-q", "60", FOLDER / "silent.jpg", "-o", path], check=True)
    # Colours by numbers: Display P3 with the curve of sRGB instead of "unspecified", which heif-enc always writes.
    content = path.read_bytes()
    assert content.count(b"nclx\0\2\0\2") == 1
    path.write_bytes(content.replace(b"nclx\0\2\0\2", b"nclx\0\x0c\0\x0d"))
    deep = pillow_heif.from_bytes("RGB;16", (96, 64), b"".join(v.to_bytes(2, "little") for v in deep_values()))
    deep.save(FOLDER / "ten-bits.heic", quality=90)


def deep_values():
    return [min(value * 257, 65_535) for value in upright().tobytes()]


main()
