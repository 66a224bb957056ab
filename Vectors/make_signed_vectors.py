"""Part of make_sealed_vectors.py: boxes, signatures, the audit chain, earlier formats."""

import base64
import hashlib
import json

from make_sealed_vectors import fixed, flipped, ident, record, replaced, write
from sealed_formats import (
    ORDER,
    audit_beginning,
    audit_next,
    ec,
    fields,
    gcm_seal,
    hkdf,
    hpke_key,
    number,
    pad,
    private_key,
    public_bytes,
    public_key,
    record_fields,
    signed_bytes,
)


def scalar(label):
    """A private key: 1 to the order less 1."""
    return number(int.from_bytes(fixed("scalar " + label, 40), "big") % (ORDER - 1) + 1, 32)


def point(key):
    return public_bytes(private_key(key).public_key())


# Boxes


def box(label, plaintext, recipient, info, data):
    ephemeral = scalar("ephemeral " + label)
    enc = point(ephemeral)
    shared = private_key(ephemeral).exchange(ec.ECDH(), public_key(recipient))
    key, nonce = hpke_key(shared, enc, recipient, info)
    return b"APBX\1" + hashlib.sha256(recipient).digest()[:8] + enc + gcm_seal(key, nonce, plaintext, data)


def boxes():
    own, other = scalar("inbox"), scalar("other inbox")
    info = fields("applocker/1/box", "record")
    opens = []
    for size, revision in [(0, 1), (1, 2), (252, 3), (253, 2**64 - 1), (700, 5)]:
        name, body = record(f"box {size}", "intruders", revision), fixed(f"box body {size}", size)
        sealed = box(str(size), pad(body), point(own), info, fields(*record_fields(name)))
        opens.append(
            {
                "name": f"{size} bytes",
                "record": name,
                "privateKey": own.hex(),
                "publicKey": point(own).hex(),
                "body": body.hex(),
                "box": sealed.hex(),
            }
        )
    name = record("box", "intruders")
    data = fields(*record_fields(name))
    good = box("good", pad(b"good"), point(own), info, data)
    cases = [
        ("empty", b"", "malformed"),
        ("another magic", replaced(good, 0, b"APEV"), "malformed"),
        ("version 2", replaced(good, 4, b"\2"), "unknownVersion"),
        ("recipient flipped", flipped(good, 5), "wrongKey"),
        ("to another key", box("good", pad(b"good"), point(other), info, data), "wrongKey"),
        ("enc is no point", flipped(good, 77), "damaged"),
        ("enc is compressed", replaced(good, 13, b"\2"), "damaged"),
        ("enc is another point", replaced(good, 13, point(other)), "damaged"),
        ("enc is all zero", replaced(good, 13, bytes(65)), "damaged"),
        ("flipped bit of the ciphertext", flipped(good, 78), "damaged"),
        ("flipped bit of the tag", flipped(good, len(good) - 1, 7), "damaged"),
        ("cut in enc", good[:77], "malformed"),
        ("nothing after enc", good[:78], "damaged"),
        ("cut by one byte", good[:-1], "damaged"),
        ("one byte more", good + b"\0", "damaged"),
        (
            "for another purpose",
            box("good", pad(b"good"), point(own), fields("applocker/1/box", "key"), data),
            "damaged",
        ),
        ("not padded", box("good", b"good", point(own), info, data), "damaged"),
        ("padding that is not zero", box("good", flipped(pad(b"good"), 255), point(own), info, data), "damaged"),
        (
            "of another vault",
            box(
                "good", pad(b"good"), point(own), info, fields(*record_fields({**name, "vault": ident("other vault")}))
            ),
            "damaged",
        ),
        (
            "of another collection",
            box("good", pad(b"good"), point(own), info, fields(*record_fields({**name, "collection": "notes"}))),
            "damaged",
        ),
        (
            "of another record",
            box("good", pad(b"good"), point(own), info, fields(*record_fields({**name, "id": ident("other")}))),
            "damaged",
        ),
        (
            "of another revision",
            box("good", pad(b"good"), point(own), info, fields(*record_fields({**name, "revision": 2}))),
            "damaged",
        ),
    ]
    write(
        "box.json",
        opens,
        [
            {"name": label, "record": name, "privateKey": own.hex(), "box": sealed.hex(), "error": error}
            for label, sealed, error in cases
        ],
    )


# Signatures


def signature(label, key, purpose, message):
    """ECDSA with a nonce derived from the label, so that a second run writes the same."""
    nonce = int.from_bytes(scalar("nonce " + label), "big")
    r = int.from_bytes(point(number(nonce, 32))[1:33], "big") % ORDER
    digest = int.from_bytes(hashlib.sha256(signed_bytes(purpose, message)).digest(), "big")
    s = pow(nonce, -1, ORDER) * (digest + r * int.from_bytes(key, "big")) % ORDER
    return number(r, 32) + number(s, 32)


def signatures():
    key, other = scalar("device"), scalar("other device")
    opens = []
    for label, purpose, message in [
        ("empty message", "audit", b""),
        ("a hash", "audit", fixed("hash", 32)),
        ("a longer message", "roster", fixed("message", 500)),
        ("empty purpose", "", b"message"),
    ]:
        opens.append(
            {
                "name": label,
                "publicKey": point(key).hex(),
                "privateKey": key.hex(),
                "purpose": purpose,
                "message": message.hex(),
                "signature": signature(label, key, purpose, message).hex(),
            }
        )
    message = b"lock firefox"
    good = signature("good", key, "command", message)
    cases = [
        ("another purpose", point(key), "audit", message, good),
        ("another message", point(key), "command", b"lock chromium", good),
        ("purpose and message divided elsewhere", point(key), "commandl", b"ock firefox", good),
        ("another device", point(other), "command", message, good),
        ("flipped bit of r", point(key), "command", message, flipped(good, 0)),
        ("flipped bit of s", point(key), "command", message, flipped(good, 63)),
        ("r is zero", point(key), "command", message, bytes(32) + good[32:]),
        ("s is zero", point(key), "command", message, good[:32] + bytes(32)),
        ("all zero", point(key), "command", message, bytes(64)),
        ("r is the order", point(key), "command", message, number(ORDER, 32) + good[32:]),
        ("empty", point(key), "command", message, b""),
        ("cut", point(key), "command", message, good[:63]),
        ("one byte more", point(key), "command", message, good + b"\0"),
    ]
    write(
        "signature.json",
        opens,
        [
            {
                "name": label,
                "publicKey": public.hex(),
                "purpose": purpose,
                "message": message.hex(),
                "signature": made.hex(),
            }
            for label, public, purpose, message, made in cases
        ],
    )


# Audit chain


def audit():
    key = scalar("device")
    events = [
        {"time": 1750000000.0, "kind": "locked", "sentence": "Firefox was locked."},
        {
            "time": 1750000000.123456,
            "kind": "denied",
            "app": "firefox",
            "user": 1000,
            "process": 4242,
            "path": "/usr/bin/firefox",
            "reason": "wrongPasscode",
            "sentence": "Wrong passcode for „Firefox“ 🔒.",
        },
        {
            "time": 1750000001.5,
            "kind": "denied",
            "app": "",
            "user": 0,
            "process": 1,
            "path": "",
            "reason": "",
            "sentence": "",
        },
        {"time": -1.0, "kind": "", "user": 4294967295, "process": -7, "sentence": "-"},
    ]
    start = current = audit_beginning(point(key))
    links = []
    for position, event in enumerate(events, 1):
        current = audit_next(current, position, event)
        links.append(
            {**event, "hash": current.hex(), "signature": signature(f"link {position}", key, "audit", current).hex()}
        )
    public = point(key).hex()

    def edited(position, **change):
        return [{**link, **change} if index == position else link for index, link in enumerate(links)]

    other = signature("link 2", scalar("other device"), "audit", bytes.fromhex(links[1]["hash"])).hex()
    cases = [
        ("a sentence changed", edited(1, sentence="Firefox was opened."), 2),
        ("a time changed", edited(0, time=1750000000.5), 1),
        (
            "what was empty is absent",
            [{k: v for k, v in link.items() if k != "app"} if index == 2 else link for index, link in enumerate(links)],
            3,
        ),
        ("what was absent is empty", edited(0, app=""), 1),
        ("a link left out", [links[0], *links[2:]], 2),
        ("two links exchanged", [links[1], links[0], *links[2:]], 1),
        ("a link twice", [links[0], links[0], *links[1:]], 2),
        ("another hash", edited(3, hash="00" * 32), 4),
        ("a flipped signature", edited(1, signature=flipped(bytes.fromhex(links[1]["signature"]), 40).hex()), 2),
        ("signed by another device", edited(1, signature=other), 2),
    ]
    opens = [
        {
            "name": "four events",
            "publicKey": public,
            "beginning": f"0:{start.hex()}",
            "events": links,
            "head": f"{len(links)}:{current.hex()}",
        }
    ]
    write(
        "audit.json",
        opens,
        [
            {"name": label, "publicKey": public, "events": events, "firstBroken": broken}
            for label, events, broken in cases
        ],
    )


# Earlier formats


def earlier():
    passcode = "7294"
    data = json.dumps(
        {
            "version": 1,
            "exportDate": "2024-11-02T09:30:00Z",
            "lockedApps": [
                {
                    "bundleID": "org.mozilla.firefox",
                    "displayName": "Firefox",
                    "path": "/Applications/Firefox.app",
                    "dateAdded": "2024-10-01T08:00:00Z",
                    "category": "Web",
                    "schedule": {
                        "enabled": True,
                        "startHour": 22,
                        "startMinute": 0,
                        "endHour": 6,
                        "endMinute": 30,
                        "activeDays": [1, 7],
                    },
                },
                {"bundleID": "com.apple.Notes", "displayName": "Notizen", "dateAdded": "2024-10-02T08:00:00Z"},
            ],
            "categories": [{"name": "Web", "icon": "globe", "appBundleIDs": ["org.mozilla.firefox"]}],
            "settings": {"unlockDuration": 300, "autoLockOnSleep": True, "blockingOverlayDuration": 2.5},
        },
        ensure_ascii=False,
        indent=1,
    )

    def container(label, purpose, plaintext):
        salt, nonce = fixed("earlier salt " + label, 32), fixed("earlier nonce " + label, 12)
        return (
            b"APLK\1" + salt + nonce + gcm_seal(hkdf(passcode.encode(), salt, purpose.encode(), 32), nonce, plaintext)
        )

    def case(label, purpose, plaintext, file):
        return {
            "name": label,
            "purpose": purpose,
            "passcode": passcode,
            "plaintext": base64.b64encode(plaintext).decode(),
            "file": base64.b64encode(file).decode(),
        }

    content = b"earlier locked file\n"
    good = container("backup", "export", data.encode())
    locked = container("file", "filelockr", content)
    opens = [
        case("backup", "export", data.encode(), good),
        case("locked file", "filelockr", content, locked),
        case("empty locked file", "filelockr", b"", container("empty", "filelockr", b"")),
        {
            "name": "plain JSON",
            "purpose": "plain",
            "plaintext": base64.b64encode(data.encode()).decode(),
            "file": base64.b64encode(data.encode()).decode(),
        },
    ]
    cases = [
        ("empty", "export", passcode, b"", "malformed"),
        ("another magic", "export", passcode, replaced(good, 0, b'{"v"'), "malformed"),
        ("version 0", "export", passcode, replaced(good, 4, b"\0"), "unknownVersion"),
        ("version 2", "export", passcode, replaced(good, 4, b"\2"), "unknownVersion"),
        ("header alone", "export", passcode, good[:49], "malformed"),
        ("shorter than a tag", "export", passcode, good[:64], "malformed"),
        ("wrong passcode", "export", "7295", good, "wrongKey"),
        ("a locked file as a backup", "export", passcode, locked, "wrongKey"),
        ("flipped bit of the salt", "export", passcode, flipped(good, 5), "wrongKey"),
        ("flipped bit of the nonce", "export", passcode, flipped(good, 48, 7), "wrongKey"),
        ("flipped bit of the ciphertext", "export", passcode, flipped(good, 49), "wrongKey"),
        ("flipped bit of the tag", "export", passcode, flipped(good, len(good) - 1), "wrongKey"),
        ("cut by one byte", "export", passcode, good[:-1], "wrongKey"),
        ("one byte more", "export", passcode, good + b"\0", "wrongKey"),
    ]
    write(
        "earlier.json",
        opens,
        [
            {
                "name": label,
                "purpose": purpose,
                "passcode": given,
                "file": base64.b64encode(file).decode(),
                "error": error,
            }
            for label, purpose, given, file, error in cases
        ],
    )


def write_all():
    boxes()
    signatures()
    audit()
    earlier()
