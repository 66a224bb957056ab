#!/usr/bin/env python3
"""Writes the vectors of docs/formats.md in this directory: slots.json, ring.json, envelope.json, stream.json, box.json,
signature.json, audit.json, locked_file.json, backup.json, earlier.json, recovery.json and others. Written from that
page only, so that two independent implementations are compared. Random values of the formats are derived from names
here, so every run writes the same bytes.

Each file has "opens" and "refused"; a refused case has the code of its error."""

import hashlib
import json
import pathlib

from sealed_formats import ZERO, committed, fields, gcm_seal, hkdf, number, pad, record_fields, recovery_digits, stretch

FOLDER = pathlib.Path(__file__).parent


def fixed(label, count):
    """Bytes that look random and are the same in every run."""
    return hashlib.shake_256(b"applocker vectors " + label.encode()).digest(count)


def ident(label):
    return fixed("id " + label, 16).hex()


def flipped(data, position, bit=0):
    return data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


def replaced(data, position, new):
    return data[:position] + new + data[position + len(new) :]


def write(name, opens, refused):
    document = {"source": "make_sealed_vectors.py, from docs/formats.md", "opens": opens, "refused": refused}
    (FOLDER / name).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"{name}: {len(opens)} open, {len(refused)} refused")


# Key slots

SCRYPT, PBKDF2 = 1, 2


def slot_block(label, algorithm, cost, keys, mixed_secret=None):
    """`keys`: slot → (passcode, root key)."""
    salt = fixed("slots " + label, 32)
    header = b"APKS" + bytes([1, algorithm, 0 if mixed_secret is None else 1, 8]) + number(cost, 4) + salt
    slots = []
    for index in range(8):
        if index in keys:
            passcode, root_key = keys[index]
            slot_salt, bound = fixed(f"slot {label} {index}", 32), fields("applocker/1/slot", header)
            key, commitment, _ = committed(stretch(passcode.encode(), header, mixed_secret), slot_salt, bound)
            slots.append(slot_salt + commitment + gcm_seal(key, ZERO, root_key, bound))
        else:
            slots.append(fixed(f"unused slot {label} {index}", 112))
    return header + b"".join(slots)


def slots():
    root, decoy, secret = fixed("root key", 32), fixed("decoy root key", 32), fixed("machine secret", 32)
    code = recovery_digits(fixed("recovery", 20))
    scrypt = slot_block("scrypt", SCRYPT, 17, {0: ("7294", root), 5: ("1111", decoy), 7: (code, root)}, secret)
    plain = slot_block("passphrase", SCRYPT, 17, {2: ("Grüße 🔑", root)})
    browser = slot_block("browser", PBKDF2, 600_000, {3: ("294617", root)}, secret)
    kek = stretch(b"294617", browser[:44], secret)

    def case(name, passcode, mixed, block, root_key, slot):
        return {
            "name": name,
            "passcode": passcode,
            "mixedSecret": mixed and mixed.hex(),
            "block": block.hex(),
            "kek": stretch(passcode.encode(), block[:44], mixed).hex(),
            "rootKey": root_key.hex(),
            "slot": slot,
        }

    opens = [
        case("scrypt with a machine secret, first slot", "7294", secret, scrypt, root, 0),
        case("the same block, a second passcode", "1111", secret, scrypt, decoy, 5),
        case("the same block, the recovery code", code, secret, scrypt, root, 7),
        case("scrypt without a machine secret", "Grüße 🔑", None, plain, root, 2),
        case("PBKDF2 with a share", "294617", secret, browser, root, 3),
    ]
    refused = [
        {"name": name, "block": block.hex(), "error": error}
        for name, block, error in [
            ("empty", b"", "malformed"),
            ("another magic", replaced(browser, 0, b"APKR"), "malformed"),
            ("version 0", replaced(browser, 4, b"\0"), "unknownVersion"),
            ("version 2", replaced(browser, 4, b"\2"), "unknownVersion"),
            ("derivation 0", replaced(browser, 5, b"\0"), "unknownAlgorithm"),
            ("derivation 3", replaced(browser, 5, b"\3"), "unknownAlgorithm"),
            ("mixed secret 2", replaced(browser, 6, b"\2"), "malformed"),
            ("seven slots", replaced(browser, 7, b"\7")[:-112], "malformed"),
            ("nine slots", replaced(browser, 7, b"\x09") + bytes(112), "malformed"),
            ("599,999 rounds", replaced(browser, 8, number(599_999, 4)), "parametersOutOfRange"),
            ("10,000,001 rounds", replaced(browser, 8, number(10_000_001, 4)), "parametersOutOfRange"),
            ("2^32 - 1 rounds", replaced(browser, 8, b"\xff" * 4), "parametersOutOfRange"),
            ("N = 2^16", replaced(scrypt, 8, number(16, 4)), "parametersOutOfRange"),
            ("N = 2^21", replaced(scrypt, 8, number(21, 4)), "parametersOutOfRange"),
            ("N = 2^(2^32 - 1)", replaced(scrypt, 8, b"\xff" * 4), "parametersOutOfRange"),
            ("cut by one byte", browser[:-1], "malformed"),
            ("one byte more", browser + b"\0", "malformed"),
        ]
    ]
    changed = [
        ("a flipped bit of the derivation's salt", flipped(browser, 12)),
        ("a flipped bit of the rounds", flipped(browser, 11)),
        ("no mixed secret claimed", replaced(browser, 6, b"\0")),
        ("a flipped bit of the slot's salt", flipped(browser, 44 + 336)),
        ("a flipped bit of the commitment", flipped(browser, 44 + 336 + 40, 7)),
        ("a flipped bit of the wrapped key", flipped(browser, 44 + 336 + 64, 3)),
        ("a flipped bit of the tag", flipped(browser, 44 + 336 + 111, 7)),
        ("another block", slot_block("other", PBKDF2, 600_000, {}, secret)),
    ]
    refused += [{"name": name, "block": block.hex(), "kek": kek.hex(), "error": "wrongKey"} for name, block in changed]
    write("slots.json", opens, refused)


# Key ring


def ring_plaintext(entries):
    return number(len(entries), 2) + b"".join(
        bytes([kind]) + bytes.fromhex(vault) + number(epoch, 4) + key for kind, vault, epoch, key in entries
    )


def sealed_ring(label, plaintext, root_key):
    salt, bound = fixed("ring " + label, 32), fields("applocker/1/ring")
    key, commitment, _ = committed(root_key, salt, bound)
    return b"APKR\1" + salt + commitment + gcm_seal(key, ZERO, plaintext, bound)


def ring():
    root = fixed("root key", 32)
    low, high = "00" * 15 + "01", "ff" * 16

    def entry(kind, vault, epoch):
        return kind, vault, epoch, fixed(f"{kind} {vault} {epoch}", 32)

    full = [
        entry(1, low, 1),
        entry(1, low, 2),
        entry(1, low, 256),
        entry(1, high, 1),
        entry(1, high, 2**32 - 1),
        entry(2, low, 1),
        entry(3, low, 1),
        entry(4, high, 7),
    ]
    opens = [
        {
            "name": name,
            "rootKey": root.hex(),
            "ring": sealed_ring(name, ring_plaintext(entries), root).hex(),
            "entries": [
                {"kind": kind, "vault": vault, "epoch": epoch, "key": key.hex()} for kind, vault, epoch, key in entries
            ],
        }
        for name, entries in [("empty", []), ("one vault key", [entry(1, ident("vault"), 1)]), ("every kind", full)]
    ]
    good = sealed_ring("good", ring_plaintext(full), root)

    def sealed(name, plaintext):
        return name, sealed_ring(name, plaintext, root), "malformed"

    refused = [
        ("empty", b"", "malformed"),
        ("another magic", replaced(good, 0, b"APKS"), "malformed"),
        ("version 2", replaced(good, 4, b"\2"), "unknownVersion"),
        ("cut in the commitment", good[:68], "malformed"),
        ("nothing after the commitment", good[:69], "damaged"),
        ("flipped bit of the salt", flipped(good, 5), "wrongKey"),
        ("flipped bit of the commitment", flipped(good, 37, 7), "wrongKey"),
        ("flipped bit of the ring", flipped(good, 70), "damaged"),
        ("flipped bit of the tag", flipped(good, len(good) - 1), "damaged"),
        ("cut by one byte", good[:-1], "damaged"),
        ("one byte more", good + b"\0", "damaged"),
        ("another root key", sealed_ring("good", ring_plaintext(full), fixed("other root key", 32)), "wrongKey"),
        sealed("no count", b""),
        sealed("half a count", b"\0"),
        sealed("count too high", number(3, 2) + ring_plaintext(full[:2])[2:]),
        sealed("count too low", number(1, 2) + ring_plaintext(full[:2])[2:]),
        sealed("out of order", ring_plaintext([full[1], full[0]])),
        sealed("kinds out of order", ring_plaintext([full[5], full[0]])),
        sealed("an entry twice", ring_plaintext([full[0], full[0]])),
        sealed("epoch 0", ring_plaintext([entry(1, low, 0)])),
        sealed("kind 0", ring_plaintext([entry(0, low, 1)])),
        sealed("kind 5", ring_plaintext([entry(5, low, 1)])),
        sealed("part of an entry", ring_plaintext(full[:1])[:-1]),
    ]
    write(
        "ring.json",
        opens,
        [{"name": name, "rootKey": root.hex(), "ring": data.hex(), "error": error} for name, data, error in refused],
    )


# Record envelope

VAULT_KEY = fixed("vault key", 32)


def record(label="record", collection="notes", revision=1):
    return {"vault": ident("vault"), "collection": collection, "id": ident(label), "revision": revision}


def envelope(label, body, name, wrap_epoch=1, body_epoch=1, vault_key=VAULT_KEY, padded=None):
    item_key, salt = fixed("item key " + label, 32), fixed(f"wrap {label} {wrap_epoch}", 32)
    wrap_bound = fields("applocker/1/wrap", *record_fields(name, number(wrap_epoch, 4)))
    body_bound = fields("applocker/1/body", *record_fields(name, number(body_epoch, 4)))
    key, commitment, _ = committed(vault_key, salt, wrap_bound)
    body_key = hkdf(item_key, b"", b"applocker/1/body-key", 32)
    return (
        b"APEV\1\0\0\0"
        + number(wrap_epoch, 4)
        + number(body_epoch, 4)
        + salt
        + commitment
        + gcm_seal(key, ZERO, item_key, wrap_bound)
        + gcm_seal(body_key, ZERO, pad(body) if padded is None else padded, body_bound)
    )


def envelopes():
    name = record()
    opens = []

    def opening(label, body, name, sealed, vault_key=VAULT_KEY):
        opens.append(
            {"name": label, "record": name, "vaultKey": vault_key.hex(), "body": body.hex(), "envelope": sealed.hex()}
        )

    for size in [0, 1, 251, 252, 253, 268, 269, 508, 509, 540, 541, 1020, 1021, 1500]:
        body = fixed(f"body {size}", size)
        opening(f"{size} bytes", body, name, envelope(f"size {size}", body, name))
    for other in [record("other", "a" * 32, 2**64 - 1), record("third", "-", 258)]:
        body = b'{"title":"Fahrradschloss","text":"4711"}'
        opening(f"named {other['collection']}", body, other, envelope("name " + other["collection"], body, other, 7, 7))
    body, newer = b"kept as it was", fixed("newer vault key", 32)
    opening("before the vault key changed", body, name, envelope("rewrapped", body, name, 1, 1))
    opening("wrapped again in epoch 3", body, name, envelope("rewrapped", body, name, 3, 1, newer), newer)

    good = envelope("good", b"good", name, 2, 2)
    filled = pad(b"x" * 300)
    changed = [
        ("empty", b"", "malformed"),
        ("another magic", replaced(good, 0, b"APST"), "malformed"),
        ("version 0", replaced(good, 4, b"\0"), "unknownVersion"),
        ("version 2", replaced(good, 4, b"\2"), "unknownVersion"),
        ("first reserved byte", replaced(good, 5, b"\1"), "malformed"),
        ("last reserved byte", replaced(good, 7, b"\1"), "malformed"),
        ("epoch 0", replaced(good, 8, bytes(8)), "malformed"),
        ("body of epoch 0", replaced(good, 12, bytes(4)), "malformed"),
        ("body of a later epoch than its wrap", replaced(good, 12, number(3, 4)), "malformed"),
        ("wrap of another epoch", replaced(good, 8, number(3, 4)), "wrongKey"),
        ("body of another epoch", replaced(good, 12, number(1, 4)), "damaged"),
        ("flipped bit of the wrap salt", flipped(good, 16), "wrongKey"),
        ("flipped bit of the commitment", flipped(good, 79, 7), "wrongKey"),
        ("flipped bit of the item key", flipped(good, 80), "damaged"),
        ("flipped bit of the item key's tag", flipped(good, 127), "damaged"),
        ("flipped bit of the body", flipped(good, 128), "damaged"),
        ("flipped bit of the body's tag", flipped(good, len(good) - 1, 7), "damaged"),
        ("header alone", good[:128], "malformed"),
        ("cut by one byte", good[:-1], "malformed"),
        ("one byte more", good + b"\0", "damaged"),
        ("body of another record", good[:128] + envelope("other good", b"good", name, 2, 2)[128:], "damaged"),
        ("padding that is not zero", envelope("p1", b"", name, padded=flipped(pad(b"y"), 255)), "damaged"),
        ("longer padding than there should be", envelope("p2", b"", name, padded=pad(b"y") + bytes(16)), "damaged"),
        ("shorter padding than there should be", envelope("p3", b"", name, padded=filled[:-8]), "damaged"),
        ("length beyond the end", envelope("p4", b"", name, padded=replaced(pad(b"y"), 0, number(253, 4))), "damaged"),
        ("length of 2^32 - 1", envelope("p5", b"", name, padded=replaced(pad(b"y"), 0, b"\xff" * 4)), "damaged"),
        ("no padding", envelope("p6", b"", name, padded=number(1, 4) + b"y"), "malformed"),
    ]
    refused = [
        {"name": label, "record": name, "vaultKey": VAULT_KEY.hex(), "envelope": data.hex(), "error": error}
        for label, data, error in changed
    ]
    for label, other in [
        ("another vault", {**name, "vault": ident("other vault")}),
        ("another collection", {**name, "collection": "files"}),
        ("another record", {**name, "id": ident("other")}),
        ("another revision", {**name, "revision": 2}),
    ]:
        refused.append(
            {"name": label, "record": other, "vaultKey": VAULT_KEY.hex(), "envelope": good.hex(), "error": "wrongKey"}
        )
    refused.append(
        {
            "name": "another vault key",
            "record": name,
            "vaultKey": newer.hex(),
            "envelope": good.hex(),
            "error": "wrongKey",
        }
    )
    write("envelope.json", opens, refused)


if __name__ == "__main__":
    import make_epoch_key_vectors
    import make_household_vectors
    import make_pairing_vectors
    import make_recovery_vectors
    import make_signed_vectors
    import make_start_vectors
    import make_stream_vectors

    slots()
    ring()
    envelopes()
    make_stream_vectors.write_all()
    make_signed_vectors.write_all()
    make_household_vectors.write_all()
    make_pairing_vectors.write_all()
    make_start_vectors.write_all()
    make_epoch_key_vectors.write_all()
    make_recovery_vectors.write_all()
    make_recovery_vectors.write_sheets()
