#!/usr/bin/env python3
"""Writes moments.json in this directory: moments, photos, their hashes, and special dates, written from
docs/formats.md, "Moments and photos" and "Special dates", only. Random values of the formats are derived from names, so
every run writes the same bytes."""

import base64
import hashlib
import json

from make_sealed_vectors import FOLDER, VAULT_KEY, envelope, fixed, ident
from make_stream_vectors import content_by_rule, stream
from moments import photo_hash
from sealed_formats import number

CHUNKS = 20
RECORDINGS = [
    *("video/mp4", "video/quicktime", "video/webm"),
    *("audio/mp4", "audio/webm", "audio/mpeg", "audio/ogg", "audio/wav"),
]


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def name_of(collection, label):
    return {"vault": ident("vault"), "collection": collection, "id": ident(label), "revision": 1}


def moment(**changed):
    photos = [
        {
            "id": ident(f"photo {index}"),
            "width": 4032,
            "height": 3024,
            "hash": photo_hash(VAULT_KEY, 7, ident("vault"), b"file %d" % index),
        }
        for index in (2, 0, 1)
    ]
    return {
        "title": "Seeufer 🌊",
        "words": "Kalt,\nund schön.",
        "date": 1715961600.5,
        "offset": 120,
        "mood": "joy",
        "place": {"name": "Zürich", "latitude": 47.3769, "longitude": 8.5417},
        "photos": photos,
        "favourite": True,
        "created": 1715970000,
        "modified": 1715970001.25,
        "removed": 1716000000,
        **changed,
    }


def without(value, *keys):
    return {key: one for key, one in value.items() if key not in keys}


def moments():
    least = without(
        moment(title="", words="", mood="", place={"name": ""}, photos=[], favourite=False, offset=-1080), "removed"
    )
    one, other, third = moment()["photos"]
    opens = [
        ("everything", moment()),
        ("the least", without(least, "place")),
        ("a name alone", least),
        ("a point alone", moment(place={"latitude": -90, "longitude": 180})),
        (
            "recordings",
            moment(
                photos=[
                    {**one, "kind": "video", "duration": 62.5},
                    {**other, "kind": "voice", "duration": 359_999, "description": "Anna sings"},
                    {**third, "kind": "a later one"},
                ]
            ),
        ),
    ]
    refused = [
        ("no title", without(moment(), "title")),
        ("words that are a number", moment(words=7)),
        ("no date", without(moment(), "date")),
        ("the year 10,000", moment(date=253402300800)),
        ("an offset of a day", moment(offset=1440)),
        ("an offset with a fraction", moment(offset=0.5)),
        ("a latitude alone", moment(place={"latitude": 1})),
        ("a latitude of 91", moment(place={"latitude": 91, "longitude": 0})),
        ("an empty place", moment(place={})),
        ("a photo twice", moment(photos=[one, one])),
        ("a photo without a size", moment(photos=[without(one, "width")])),
        ("a hash cut off", moment(photos=[{**one, "hash": one["hash"][1:]}])),
        ("a kind that is a number", moment(photos=[{**one, "kind": 1}])),
        ("a duration of nothing", moment(photos=[{**one, "kind": "video", "duration": 0}])),
        ("a negative duration", moment(photos=[{**one, "kind": "video", "duration": -1}])),
        ("a duration of 100 hours", moment(photos=[{**one, "kind": "video", "duration": 360_000}])),
        ("a duration as text", moment(photos=[{**one, "kind": "video", "duration": "62"}])),
        ("201 photos", moment(photos=[{**one, "id": ident(f"many {index}")} for index in range(201)])),
        ("favourite as text", moment(favourite="yes")),
        ("removed as text", moment(removed="yes")),
        ("a list", [moment()]),
    ]
    name = name_of("moments", "moment")

    def sealed(label, content):
        return {
            "name": label,
            "record": name,
            "vaultKey": VAULT_KEY.hex(),
            "envelope": envelope("moment " + label, text(content), name).hex(),
        }

    return {
        "opens": [{**sealed(label, content), "content": content} for label, content in opens],
        "refused": [{**sealed(label, content), "error": "malformed"} for label, content in refused],
    }


def dates():
    def date(**changed):
        return {"name": "Annas Geburtstag 🎂", "day": "1992-02-29", "yearly": True, **changed}

    opens = [
        ("every year", date()),
        ("once", date(name="L", day="9999-12-31", yearly=False)),
        ("80 characters", date(name="🎂" * 80, day="1000-01-01")),
    ]
    refused = [
        ("no name", without(date(), "name")),
        ("an empty name", date(name="")),
        ("81 characters", date(name="x" * 81)),
        ("a space at the end", date(name="Anna ")),
        ("a line break", date(name="Anna\nBen")),
        ("a change of direction", date(name="Anna\u202eBen")),
        ("nothing visible", date(name="\u200b")),
        ("a day that no month has", date(day="2023-02-29")),
        ("a time", date(day="2023-02-28T00:00:00Z")),
        ("the year 999", date(day="0999-12-31")),
        ("yearly as text", date(yearly="yes")),
        ("a list", [date()]),
    ]
    name = name_of("dates", "date")

    def sealed(label, content):
        return {
            "name": label,
            "record": name,
            "vaultKey": VAULT_KEY.hex(),
            "envelope": envelope("date " + label, text(content), name).hex(),
        }

    return {
        "opens": [{**sealed(label, content), "content": content} for label, content in opens],
        "refused": [{**sealed(label, content), "error": "malformed"} for label, content in refused],
    }


def body_of(facts, thumbnail):
    plain = text(facts)
    return number(len(plain), 4) + plain + thumbnail


def photos():
    thumbnail = b"\xff\xd8\xff" + fixed("thumbnail", 997)
    name = name_of("photos", "photo")
    contents = {"original": ("image/heic", (1 << 20) + 9, 3), "medium": ("image/jpeg", 5_000, 4)}
    sizes, streams = {}, {}
    for which, (kind, size, seed) in contents.items():
        key = fixed("key of " + which, 32)
        sizes[which] = {
            "type": kind,
            "size": size,
            "key": base64.b64encode(key).decode(),
            "blob": ident("blob " + which),
        }
        sealed = stream("photo " + which, content_by_rule(size, seed), name, key, CHUNKS)
        streams[which] = {
            "seed": seed,
            "header": sealed[:72].hex(),
            "sealedSize": len(sealed),
            "sealedSHA256": hashlib.sha256(sealed).hexdigest(),
        }
    facts = {"width": 3024, "height": 4032, "taken": 1715961600, **sizes}
    blobs = [sizes["original"]["blob"], sizes["medium"]["blob"]]

    def sealed_photo(label, body, names=blobs):
        return {
            "name": label,
            "record": name,
            "blobs": names,
            "vaultKey": VAULT_KEY.hex(),
            "envelope": envelope("photo " + label, body, name).hex(),
        }

    def of_size(original, medium=None):
        photo = {**facts, "original": {**sizes["original"], "size": original}}
        return {**photo, "medium": {**sizes["medium"], "size": medium}} if medium else without(photo, "medium")

    def recording(kind, size):
        return {**facts, "original": {**sizes["original"], "type": kind, "size": size}}

    def sealed_large(label, content):
        return {
            **sealed_photo(label, body_of(content, thumbnail), blobs if "medium" in content else blobs[:1]),
            "content": content,
            "thumbnail": thumbnail.hex(),
            "streams": {},
        }

    alone = without(facts, "medium", "taken")
    opens = [
        {
            **sealed_photo("both sizes", body_of(facts, thumbnail)),
            "content": facts,
            "thumbnail": thumbnail.hex(),
            "streams": streams,
        },
        {
            **sealed_photo("an original alone", body_of(alone, b"\xff"), blobs[:1]),
            "content": alone,
            "thumbnail": "ff",
            "streams": {"original": streams["original"]},
        },
        sealed_large("the largest sizes", of_size(1 << 28, 1 << 24)),
        sealed_large("the largest original alone", of_size(1 << 24)),
        *(sealed_large(f"a recording, {kind}", recording(kind, 1 << 32)) for kind in RECORDINGS),
    ]
    original = sizes["original"]
    refused = [
        ("no thumbnail", body_of(facts, b""), blobs),
        ("a large thumbnail", body_of(facts, bytes(16_385)), blobs),
        ("blobs in another order", body_of(facts, thumbnail), blobs[::-1]),
        ("a blob that is not named", body_of(facts, thumbnail), blobs[:1]),
        ("one blob more", body_of(alone, thumbnail), blobs),
        ("no original", body_of(without(facts, "original"), thumbnail), blobs[1:]),
        ("a medium that is null", body_of({**facts, "medium": None}, thumbnail), blobs[:1]),
        ("another type", body_of({**alone, "original": {**original, "type": "image/svg+xml"}}, thumbnail), blobs[:1]),
        (
            "a short key",
            body_of({**alone, "original": {**original, "key": base64.b64encode(bytes(31)).decode()}}, thumbnail),
            blobs[:1],
        ),
        ("an empty original", body_of({**alone, "original": {**original, "size": 0}}, thumbnail), blobs[:1]),
        ("an original of 2^28 + 1 bytes", body_of(of_size((1 << 28) + 1, 5_000), thumbnail), blobs),
        ("a medium size of 2^24 + 1 bytes", body_of(of_size(1 << 28, (1 << 24) + 1), thumbnail), blobs),
        ("an original alone of 2^24 + 1 bytes", body_of(of_size((1 << 24) + 1), thumbnail), blobs[:1]),
        ("a size of 2^53 bytes", body_of(of_size(1 << 53, 5_000), thumbnail), blobs),
        ("a size with a fraction", body_of(of_size(1.5, 5_000), thumbnail), blobs),
        ("no width", body_of({**alone, "width": 0}, thumbnail), blobs[:1]),
        ("JSON beyond the end", number(1 << 16, 4) + text(facts), blobs),
        ("no JSON", number(3, 4) + b"{}}" + thumbnail, blobs),
        ("a recording without a poster", body_of(without(recording("video/mp4", 9), "medium"), thumbnail), blobs[:1]),
        ("a recording of 2^32 + 1 bytes", body_of(recording("video/mp4", (1 << 32) + 1), thumbnail), blobs),
        ("an empty recording", body_of(recording("audio/webm", 0), thumbnail), blobs),
        ("a recording of a negative size", body_of(recording("audio/webm", -1), thumbnail), blobs),
        ("another type of recording", body_of(recording("video/x-matroska", 9), thumbnail), blobs),
        ("a type with parameters", body_of(recording("video/mp4; codecs=avc1", 9), thumbnail), blobs),
        (
            "a recording as a poster",
            body_of({**facts, "medium": {**sizes["medium"], "type": "video/mp4"}}, thumbnail),
            blobs,
        ),
        (
            "a poster of 2^24 + 1 bytes",
            body_of({**recording("video/mp4", 9), "medium": {**sizes["medium"], "size": (1 << 24) + 1}}, thumbnail),
            blobs,
        ),
    ]
    return {
        "opens": opens,
        "refused": [{**sealed_photo(label, body, names), "error": "malformed"} for label, body, names in refused],
    }


def hashes():
    return [
        {
            "name": label,
            "vaultKey": key.hex(),
            "epoch": epoch,
            "vault": ident(vault),
            "fileSHA256": hashlib.sha256(file).hexdigest(),
            "hash": photo_hash(key, epoch, ident(vault), file),
        }
        for label, key, epoch, vault, file in [
            ("a file", VAULT_KEY, 7, "vault", b"file"),
            ("another epoch", fixed("newer key", 32), 70_000, "vault", b"file"),
            ("another vault", VAULT_KEY, 7, "other vault", b"file"),
            ("another file", VAULT_KEY, 7, "vault", b"file 2"),
        ]
    ]


def write():
    document = {
        "source": "make_moment_vectors.py, from docs/formats.md",
        "moments": moments(),
        "photos": photos(),
        "dates": dates(),
        "hashes": hashes(),
    }
    (FOLDER / "moments.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write()
