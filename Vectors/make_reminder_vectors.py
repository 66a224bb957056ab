#!/usr/bin/env python3
"""Writes reminder.json in this directory: what a device seals for itself, and the ids of its lists, written from
docs/formats.md, "Reminders", only. Random values are derived from names, so every run writes the same bytes."""

import json

from make_sealed_vectors import FOLDER, fixed, flipped, ident
from sealed_formats import fields, gcm_seal, hkdf, number

KEY, DEVICE = fixed("reminder key", 32), ident("device")


def plain(day, dates, memories, version=1):
    return bytes([version, memories]) + number(dates, 2) + number(day, 4) + bytes(8)


def sealed(content, name, device=DEVICE, key=KEY):
    nonce = fixed("reminder nonce " + name, 12)
    return nonce + gcm_seal(key, nonce, content, fields("applocker/1/reminder", bytes.fromhex(device)))


def contents():
    opens = [
        ("a date", "2027-06-01", 1, False),
        ("dates and moments", "2028-02-29", 12, True),
        ("moments", "2027-12-31", 0, True),
        ("as many dates as there is room for", "9999-12-31", 65535, False),
    ]
    good = plain(20270601, 1, 0)
    refused = [
        ("another version", sealed(plain(20270601, 1, 0, version=2), "version")),
        ("no day of the calendar", sealed(plain(20270229, 1, 0), "day")),
        ("a day of seven digits", sealed(plain(2027061, 1, 0), "digits")),
        ("neither with nor without moments", sealed(plain(20270601, 1, 2), "memories")),
        ("a longer content", sealed(good + bytes(1), "longer")),
        ("a shorter content", sealed(good[:-1], "shorter")),
        ("another device", sealed(good, "device", device=ident("other device"))),
        ("another key", sealed(good, "key", key=fixed("other key", 32))),
        ("a changed bit", flipped(sealed(good, "bit"), 20)),
        ("a changed nonce", flipped(sealed(good, "nonce"), 0)),
        ("only a nonce", fixed("reminder nonce", 12)),
        ("nothing", b""),
    ]
    return {
        "opens": [
            {
                "name": name,
                "sealed": sealed(plain(int(day.replace("-", "")), dates, memories), name).hex(),
                "nonce": fixed("reminder nonce " + name, 12).hex(),
                "content": {"day": day, "dates": dates, "memories": memories},
            }
            for name, day, dates, memories in opens
        ],
        "refused": [{"name": name, "sealed": content.hex()} for name, content in refused],
    }


def lists():
    roots = [fixed(name, 32) for name in ("root key", "root key of a decoy")]
    return [{"rootKey": root.hex(), "id": hkdf(root, b"", fields("applocker/1/reminders"), 16).hex()} for root in roots]


if __name__ == "__main__":
    document = {
        "source": "make_reminder_vectors.py, from docs/formats.md",
        "key": KEY.hex(),
        "device": DEVICE,
        **contents(),
        "lists": lists(),
    }
    (FOLDER / "reminder.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"reminder.json: {len(document['opens'])} open, {len(document['refused'])} refused")
