"""The contents of records of moments, photos, special dates and remarks, read from docs/formats.md, "Moments and
photos", "Special dates" and "Remarks", only."""

import base64
import datetime
import hashlib
import hmac
import json
import math
import re
import unicodedata

from sealed_formats import Reader, Refused, fields, hkdf, number

MOST = {"original": 1 << 28, "medium": 1 << 24, "recording": 1 << 32}
TYPES = ("image/jpeg", "image/png", "image/webp", "image/heic", "image/avif", "image/gif")
RECORDINGS = (
    *("video/mp4", "video/quicktime", "video/webm"),
    *("audio/mp4", "audio/webm", "audio/mpeg", "audio/ogg", "audio/wav"),
)


def photo_hash(vault_key, epoch, vault, file):
    key = hkdf(vault_key, b"", fields("applocker/1/photo-hash", bytes.fromhex(vault)), 32)
    return (number(epoch, 4) + hmac.digest(key, hashlib.sha256(file).digest(), "sha256")[:16]).hex()


def expect(condition, what):
    if not condition:
        raise Refused("malformed", what)


def is_number(value, least=-62_135_510_400, most=253_402_214_400):
    return type(value) in (int, float) and math.isfinite(value) and least <= value <= most


def is_whole(value, least, most):
    return type(value) is int and least <= value <= most


def is_id(value, digits=32):
    return isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None


def parsed(data):
    try:
        value = json.loads(data)
    except ValueError:
        raise Refused("malformed", "JSON") from None
    expect(isinstance(value, dict), "no object")
    return value


def check_place(place):
    expect(isinstance(place, dict) and isinstance(place.get("name", ""), str), "place")
    if "latitude" in place or "longitude" in place:
        expect(is_number(place.get("latitude"), -90, 90) and is_number(place.get("longitude"), -180, 180), "a point")
    else:
        expect("name" in place, "an empty place")


def read_moment(body):
    moment = parsed(body)
    expect(all(isinstance(moment.get(key), str) for key in ("title", "words", "mood")), "text")
    expect(all(is_number(moment.get(key)) for key in ("date", "created", "modified")), "times")
    expect(
        is_whole(moment.get("offset"), -1080, 1080) and isinstance(moment.get("favourite"), bool), "offset, favourite"
    )
    expect("removed" not in moment or is_number(moment["removed"]), "removed")
    if "place" in moment:
        check_place(moment["place"])
    photos = moment.get("photos")
    expect(isinstance(photos, list) and len(photos) <= 200, "photos")
    for photo in photos:
        expect(isinstance(photo, dict) and is_id(photo.get("id")) and is_id(photo.get("hash"), 40), "a photo")
        expect(is_whole(photo.get("width"), 1, 1 << 17) and is_whole(photo.get("height"), 1, 1 << 17), "its size")
        expect(isinstance(photo.get("kind", ""), str), "its kind")
        length = photo.get("duration", 1)
        expect(is_number(length, 0, 359_999) and length > 0, "its duration")
    expect(len({photo["id"] for photo in photos}) == len(photos), "a photo twice")
    return moment


def read_date(body):
    date = parsed(body)
    name, day = date.get("name"), date.get("day")
    expect(isinstance(name, str) and 1 <= len(name) <= 80 and name == name.strip(), "name")
    kinds = [unicodedata.category(one) for one in name]
    turns = any("\u2028" <= one <= "\u202e" or "\u2066" <= one <= "\u2069" or one in "\u200e\u200f" for one in name)
    expect("Cc" not in kinds and not turns and any(kind[0] in "LNPS" for kind in kinds), "characters")
    expect(isinstance(day, str) and re.fullmatch("[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}", day) is not None, "day")
    try:
        datetime.date.fromisoformat(day)
    except ValueError:
        raise Refused("malformed", "no day of the calendar") from None
    expect(isinstance(date.get("yearly"), bool), "yearly")
    return date


def read_photo(body, blobs):
    """Returns the JSON and the thumbnail."""
    reader = Reader(body)
    photo = parsed(reader.take(reader.number(4)))
    thumbnail = reader.rest()
    expect(1 <= len(thumbnail) <= 16_384, "thumbnail")
    expect(is_whole(photo.get("width"), 1, 1 << 17) and is_whole(photo.get("height"), 1, 1 << 17), "size")
    expect("taken" not in photo or is_number(photo["taken"]), "taken")
    sizes = [photo.get("original")] + ([photo["medium"]] if "medium" in photo else [])
    expect(len(sizes) == len(blobs), "blobs")
    expect(all(isinstance(size, dict) for size in sizes), "sizes")
    is_recording = "medium" in photo and sizes[0].get("type") in RECORDINGS
    original = (RECORDINGS, MOST["recording"]) if is_recording else (TYPES, MOST["original"])
    permitted = [original, (TYPES, MOST["medium"])] if "medium" in photo else [(TYPES, MOST["medium"])]
    for size, blob, (types, limit) in zip(sizes, blobs, permitted, strict=True):
        expect(size.get("type") in types and is_whole(size.get("size"), 1, limit), "a size")
        expect(is_id(size.get("blob")) and size["blob"] == blob and isinstance(size.get("key"), str), "its blob")
        expect(len(base64.b64decode(size["key"])) == 32, "its key")
    return photo, thumbnail


def remark_tag(vault, author):
    data = fields("applocker/1/remark-author", bytes.fromhex(vault), bytes.fromhex(author))
    return hashlib.sha256(data).hexdigest()[:16]


def may_write_remark(remark, vault, author, household):
    return remark[:16] in (remark_tag(vault, author), remark_tag(vault, household))


def is_text(value, most):
    """`most` in UTF-16 units; at least one character is visible."""
    return (
        isinstance(value, str)
        and len(value.encode("utf-16-le", "surrogatepass")) // 2 <= most
        and any(unicodedata.category(character)[0] in "LMNPS" for character in value)
    )


def read_remark(body):
    remark = parsed(body)
    expect(is_id(remark.get("moment")) and is_number(remark.get("at")), "moment, time")
    if remark.get("kind") == "comment":
        expect(is_text(remark.get("text"), 2_000) and ("from" not in remark or is_text(remark["from"], 64)), "text")
    else:
        expect(remark.get("kind") in ("heart", "laugh", "wow", "sad", "thanks"), "kind")
    return remark
