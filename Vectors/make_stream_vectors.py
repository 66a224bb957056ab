"""Part of make_sealed_vectors.py: streams, and the files that hold one (locked files, backups)."""

import base64
import hashlib
import json

from make_sealed_vectors import (
    SCRYPT,
    VAULT_KEY,
    envelope,
    fixed,
    flipped,
    ident,
    record,
    replaced,
    ring_plaintext,
    slot_block,
    write,
)
from sealed_formats import committed, fields, gcm_seal, number, stream_name

CHUNK = 1 << 16


def content_by_rule(size, seed):
    """The rule that stream.json names: byte i is (seed + i + floor(i / 256) * 31) mod 256."""
    return bytes((seed + i + i // 256 * 31) & 255 for i in range(size))


def stream(label, content, name, key, logarithm=16):
    start = b"APST\1" + bytes([logarithm]) + b"\0\0"
    salt = fixed("stream " + label, 32)
    sealing, commitment, prefix = committed(key, salt, fields("applocker/1/stream", start, stream_name(name)))
    size = 1 << logarithm
    count = max(1, -(-len(content) // size))
    chunks = [
        gcm_seal(sealing, prefix + number(index, 4) + number(index == count - 1, 1), content[index * size :][:size])
        for index in range(count)
    ]
    return start + salt + commitment + b"".join(chunks)


def streams():
    key = fixed("content key", 32)
    name = {"vault": ident("vault"), "collection": "files", "id": ident("file")}
    opens = []
    for label, size, logarithm, named in [
        ("empty", 0, 16, name),
        ("one byte", 1, 16, name),
        ("a chunk less one byte", CHUNK - 1, 16, name),
        ("a chunk", CHUNK, 16, name),
        ("a chunk and a byte", CHUNK + 1, 16, name),
        ("two chunks", 2 * CHUNK, 16, name),
        ("three chunks", 2 * CHUNK + 5, 16, name),
        ("chunks of 256 KiB", (1 << 18) + 7, 18, name),
        ("chunks of 1 MiB", (1 << 20) + 7, 20, name),
        ("alone", 1000, 16, {"purpose": "backup"}),
    ]:
        content = content_by_rule(size, len(opens))
        sealed = stream(label, content, named, key, logarithm)
        opens.append(
            {
                "name": label,
                "stream": named,
                "contentKey": key.hex(),
                "size": size,
                "seed": len(opens),
                "contentSHA256": hashlib.sha256(content).hexdigest(),
                "header": sealed[:72].hex(),
                "sealedSize": len(sealed),
                "sealedSHA256": hashlib.sha256(sealed).hexdigest(),
            }
        )

    def refuse(label, of, edit, error, **more):
        return {"name": label, "of": of, "edit": edit, "error": error, **more}

    last = "three chunks"
    refused = [
        refuse("another magic", last, ["flip", 0, 0], "malformed"),
        refuse("version 2", last, ["set", 4, 2], "unknownVersion"),
        refuse("chunks of 2^17 bytes", last, ["set", 5, 17], "parametersOutOfRange"),
        refuse("chunks of 2^255 bytes", last, ["set", 5, 255], "parametersOutOfRange"),
        refuse("chunks of another size", last, ["set", 5, 18], "wrongKey"),
        refuse("reserved byte", last, ["set", 7, 1], "malformed"),
        refuse("flipped bit of the salt", last, ["flip", 8, 0], "wrongKey"),
        refuse("flipped bit of the commitment", last, ["flip", 71, 7], "wrongKey"),
        refuse("header cut", last, ["cut", 71], "malformed"),
        refuse("header alone", last, ["cut", 72], "malformed"),
        refuse("flipped bit of the first chunk", last, ["flip", 72, 0], "damaged"),
        refuse("flipped bit of the second chunk", last, ["flip", 72 + CHUNK + 16, 5], "damaged"),
        refuse("flipped bit of the last tag", last, ["flip", 72 + 2 * (CHUNK + 16) + 20, 7], "damaged"),
        refuse("one byte cut off", last, ["cut", 72 + 2 * (CHUNK + 16) + 20], "damaged"),
        refuse("last chunk cut off", last, ["cut", 72 + 2 * (CHUNK + 16)], "damaged"),
        refuse("cut in the second chunk", last, ["cut", 72 + CHUNK + 16 + 100], "damaged"),
        refuse("cut to a tag", last, ["cut", 72 + 2 * (CHUNK + 16) + 16], "malformed"),
        refuse("one byte more", last, ["append", "00"], "damaged"),
        refuse("an empty last chunk", "two chunks", ["append", "00" * 16], "malformed"),
        refuse("chunks exchanged", last, ["swap", 0, 1], "damaged"),
        refuse("a chunk left out", last, ["drop", 0], "damaged"),
        refuse("a chunk twice", last, ["repeat", 0], "damaged"),
        refuse("empty, cut", "empty", ["cut", 87], "malformed"),
        refuse("empty, one byte more", "empty", ["append", "00"], "damaged"),
        refuse("another vault", "one byte", [], "wrongKey", stream={**name, "vault": ident("other vault")}),
        refuse("another collection", "one byte", [], "wrongKey", stream={**name, "collection": "photos"}),
        refuse("another record", "one byte", [], "wrongKey", stream={**name, "id": ident("other file")}),
        refuse("another purpose", "alone", [], "wrongKey", stream={"purpose": "photo"}),
        refuse("another content key", "alone", [], "wrongKey", contentKey=fixed("other content key", 32).hex()),
    ]
    write("stream.json", opens, refused)


def locked_file():
    content, key = b"diary\n" * 20, fixed("locked content key", 32)
    name = record("locked", "locked-files")
    attributes = {"user.note": base64.b64encode(b"private").decode()}
    body = json.dumps(
        {
            "name": "diary.txt",
            "size": len(content),
            "mode": 0o100600,
            "modified": "1750000000.000000000",
            "attributes": attributes,
            "contentKey": base64.b64encode(key).decode(),
        }
    ).encode()
    envelope_bytes = envelope("locked", body, name)
    fixed_part = (
        b"APLK\2\2\0\0" + bytes.fromhex(name["vault"]) + bytes.fromhex(name["id"]) + number(len(envelope_bytes), 4)
    )
    sealed_stream = stream("locked", content, name, key)
    file = fixed_part + envelope_bytes + sealed_stream
    refused = [
        {"name": label, "vaultKey": VAULT_KEY.hex(), "file": base64.b64encode(data).decode(), "error": error}
        for label, data, error in [
            ("empty", b"", "malformed"),
            ("another magic", replaced(file, 0, b"APLX"), "malformed"),
            ("version 3", replaced(file, 4, b"\3"), "unknownVersion"),
            ("a backup's purpose", replaced(file, 5, b"\1"), "malformed"),
            ("reserved byte", replaced(file, 6, b"\1"), "malformed"),
            ("another vault", flipped(file, 8), "wrongKey"),
            ("another record", flipped(file, 24), "wrongKey"),
            ("no envelope", replaced(file, 40, bytes(4)), "malformed"),
            ("envelope of more than 1 MiB", replaced(file, 40, number((1 << 20) + 1, 4)), "malformed"),
            ("envelope longer than the file", replaced(file, 40, number(1 << 20, 4)), "malformed"),
            ("envelope a byte shorter", replaced(file, 40, number(len(envelope_bytes) - 1, 4)), "malformed"),
            ("flipped bit of the envelope's body", flipped(file, 44 + 130), "damaged"),
            (
                "stream of another file",
                fixed_part + envelope_bytes + stream("locked", content, {**name, "id": ident("other")}, key),
                "wrongKey",
            ),
            ("cut by one byte", file[:-1], "damaged"),
            ("one byte more", file + b"\0", "damaged"),
            ("without its stream", fixed_part + envelope_bytes, "malformed"),
        ]
    ]
    opens = [
        {
            "name": "a text file",
            "vaultKey": VAULT_KEY.hex(),
            "vault": name["vault"],
            "id": name["id"],
            "body": body.decode(),
            "content": content.decode(),
            "file": base64.b64encode(file).decode(),
        }
    ]
    write("locked_file.json", opens, refused)


def backup():
    passphrase, root = "correct horse battery staple", fixed("backup root key", 32)
    block = slot_block("backup", SCRYPT, 17, {4: (passphrase, root)})
    note = envelope("backed up note", b'{"title":"Backup"}', record("backed up"))
    manifest = {"version": 2, "created": "2025-06-15T12:00:00Z", "contents": "everything", "records": 1, "blobs": 1}
    parts = [
        (1, json.dumps(manifest).encode()),
        (2, json.dumps({"apps": [], "categories": [], "rules": []}).encode()),
        (3, ring_plaintext([(1, ident("vault"), 1, VAULT_KEY)])),
        (
            4,
            json.dumps(
                {
                    "collection": "notes",
                    "id": ident("backed up"),
                    "vault": ident("vault"),
                    "revision": 1,
                    "epoch": 1,
                    "author": ident("device"),
                    "deleted": False,
                    "sealed": base64.b64encode(note).decode(),
                }
            ).encode(),
        ),
        (5, bytes.fromhex(ident("blob")) + fixed("sealed blob", 100)),
    ]
    name = {"purpose": "backup"}

    def entries(parts):
        return b"".join(bytes([kind]) + number(len(data), 8) + data for kind, data in parts)

    def file(content, label="backup", block=block, name=name):
        return b"APLK\2\1\0\0" + block + stream(label, content, name, root)

    end = (255, b"")
    good = file(entries(parts + [end]))
    mixed = slot_block("mixed", SCRYPT, 17, {}, fixed("machine secret", 32))
    cases = [
        ("empty", b"", "malformed"),
        ("another magic", replaced(good, 0, b"ZIP!"), "malformed"),
        ("version 3", replaced(good, 4, b"\3"), "unknownVersion"),
        ("a locked file's purpose", replaced(good, 5, b"\2"), "malformed"),
        ("reserved byte", replaced(good, 7, b"\1"), "malformed"),
        ("a block of version 2", replaced(good, 12, b"\2"), "unknownVersion"),
        ("a block that needs a secret", file(entries(parts + [end]), block=mixed), "malformed"),
        ("N = 2^31", replaced(good, 16, number(31, 4)), "parametersOutOfRange"),
        ("slots cut off", good[:947], "malformed"),
        ("stream cut off", good[:948], "malformed"),
        ("flipped bit of the content", flipped(good, len(good) - 30), "damaged"),
        ("cut by one byte", good[:-1], "damaged"),
        ("one byte more", good + b"\0", "damaged"),
        ("stream of another purpose", file(entries(parts + [end]), name={"purpose": "photo"}), "wrongKey"),
        ("no end", file(entries(parts), "b1"), "malformed"),
        ("something after the end", file(entries(parts + [end]) + b"\0", "b2"), "malformed"),
        ("an end that is not empty", file(entries(parts + [(255, b"x")]), "b3"), "malformed"),
        ("no manifest first", file(entries(parts[1:] + [end]), "b4"), "malformed"),
        ("two manifests", file(entries(parts[:1] + parts[:1] + [end]), "b5"), "malformed"),
        ("an entry of unknown kind", file(entries(parts + [(6, b""), end]), "b6"), "malformed"),
        ("an entry longer than the content", file(entries(parts[:1]) + b"\2" + number(1000, 8), "b7"), "malformed"),
        ("a blob without an id", file(entries(parts + [(5, bytes(15)), end]), "b8"), "malformed"),
        ("an entry above 32 MiB", file(entries(parts[:1]) + b"\2" + number((32 << 20) + 1, 8), "b9"), "tooLarge"),
    ]
    opens = [
        {
            "name": "one of everything",
            "passphrase": passphrase,
            "rootKey": root.hex(),
            "entries": [{"kind": kind, "content": base64.b64encode(data).decode()} for kind, data in parts],
            "file": base64.b64encode(good).decode(),
        }
    ]
    refused = [
        {"name": label, "rootKey": root.hex(), "file": base64.b64encode(data).decode(), "error": error}
        for label, data, error in cases
    ]
    write("backup.json", opens, refused)


def write_all():
    streams()
    locked_file()
    backup()
