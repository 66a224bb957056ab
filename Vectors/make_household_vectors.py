"""Part of make_sealed_vectors.py: the roster, signed records."""

import hashlib

from make_sealed_vectors import fixed, flipped, ident, record, replaced, write
from make_signed_vectors import point, scalar, signature
from sealed_formats import fields, number, record_fields


def device(label):
    return {"signing": scalar(label + " signing"), "box": scalar(label + " box")}


def device_id(one):
    return hashlib.sha256(point(one["signing"])).digest()[:16]


def admit(one, role):
    return 1, bytes([role]) + point(one["signing"]) + point(one["box"])


def revoke(one):
    return 2, device_id(one)


def entry(position, previous, author, change, label="", magic=b"APRO\1", zeros=b"\0\0", time=None):
    kind, payload = change
    signed = (
        magic
        + bytes([kind])
        + zeros
        + number(position, 8)
        + previous
        + number(1750000000 + position if time is None else time, 8)
        + device_id(author)
        + payload
    )
    return signed + signature(f"roster {position} {label}", author["signing"], "roster", signed)


def entry_hash(sealed):
    return hashlib.sha256(fields("applocker/1/roster", sealed[:-64])).digest()


def chain(*steps):
    """Entries, each by its author and change."""
    entries, previous = [], bytes(32)
    for position, (author, change) in enumerate(steps, 1):
        entries.append(entry(position, previous, author, change))
        previous = entry_hash(entries[-1])
    return entries


def rosters():
    den, laptop, phone, tablet = (device(name) for name in ("den", "laptop", "phone", "tablet"))
    first_phone, sheet = device("first phone"), device("sheet")

    def opening(name, entries, members, revoked=()):
        return {
            "name": name,
            "entries": [one.hex() for one in entries],
            "household": entry_hash(entries[0])[:16].hex(),
            "head": entry_hash(entries[-1]).hex(),
            "members": [
                {
                    "id": device_id(one).hex(),
                    "role": role,
                    "signingKey": point(one["signing"]).hex(),
                    "boxKey": point(one["box"]).hex(),
                }
                for one, role in members
            ],
            "revoked": sorted(device_id(one).hex() for one in revoked),
        }

    founded = [(den, admit(den, 1))]
    paired = [*founded, (den, admit(phone, 2))]
    grown = [*paired, (den, admit(laptop, 1)), (laptop, revoke(phone)), (laptop, admit(tablet, 2))]
    opens = [
        opening("founded", chain(*founded), [(den, 1)]),
        opening("with a phone", chain(*paired), [(den, 1), (phone, 2)]),
        opening(
            "with a second computer that put the phone out",
            chain(*grown),
            [(den, 1), (laptop, 1), (tablet, 2)],
            [phone],
        ),
        opening(
            "a computer put out by the other",
            chain(*grown, (den, revoke(laptop))),
            [(den, 1), (tablet, 2)],
            [phone, laptop],
        ),
    ]
    phones = [(first_phone, admit(first_phone, 3)), (first_phone, admit(sheet, 3))]
    with_computer = [*phones, (sheet, admit(den, 1)), (den, admit(phone, 2))]
    opens += [
        opening("founded by a phone", chain(*phones[:1]), [(first_phone, 3)]),
        opening(
            "a phone that a second one revoked",
            chain(*phones, (sheet, revoke(first_phone))),
            [(sheet, 3)],
            [first_phone],
        ),
        opening(
            "a computer in a household that a phone founded",
            chain(*with_computer, (den, revoke(first_phone)), (den, revoke(sheet))),
            [(den, 1), (phone, 2)],
            [first_phone, sheet],
        ),
    ]
    good = chain(*paired)
    first, second = good

    def third(author, change, **more):
        return [*good, entry(3, entry_hash(second), author, change, **more)]

    cases = [
        ("nothing", [], "malformed"),
        ("without its beginning", [second], "damaged"),
        ("one left out", [chain(*grown)[0], *chain(*grown)[2:]], "damaged"),
        ("one twice", [first, second, second], "damaged"),
        ("begins with a companion", chain((den, admit(den, 2))), "damaged"),
        ("begins with a revocation", chain((den, revoke(den))), "damaged"),
        ("begins with another's admission", chain((den, admit(laptop, 1))), "damaged"),
        ("begins with number 2", [entry(2, bytes(32), den, admit(den, 1))], "damaged"),
        ("begins after something", [entry(1, b"\1" * 32, den, admit(den, 1))], "damaged"),
        ("by a companion", third(phone, admit(tablet, 2)), "damaged"),
        ("by a stranger", third(laptop, admit(tablet, 2)), "damaged"),
        (
            "by a computer that was put out",
            chain(*grown, (den, revoke(laptop)), (laptop, admit(device("x"), 2))),
            "damaged",
        ),
        ("admitted twice", third(den, admit(phone, 2)), "damaged"),
        ("back after a revocation", chain(*grown, (den, admit(phone, 2))), "damaged"),
        ("a stranger revoked", third(den, revoke(laptop)), "damaged"),
        ("the last computer revoked", third(den, revoke(den)), "damaged"),
        ("another number", [*good, entry(4, entry_hash(second), den, admit(tablet, 2))], "damaged"),
        ("another hash before", [*good, entry(3, entry_hash(first), den, admit(tablet, 2))], "damaged"),
        ("a flipped signature", [first, flipped(second, len(second) - 1)], "damaged"),
        ("a flipped time", [first, flipped(second, 55)], "damaged"),
        ("a flipped author", [first, flipped(second, 60)], "damaged"),
        ("another role", [first, replaced(second, 72, b"\1")], "damaged"),
        (
            "the last administrator revoked",
            chain(*with_computer, (den, revoke(first_phone)), (den, revoke(sheet)), (den, revoke(den))),
            "damaged",
        ),
        ("the founding phone revokes itself alone", chain(*phones[:1], (first_phone, revoke(first_phone))), "damaged"),
        (
            "by a companion of a household that a phone founded",
            chain(*with_computer, (phone, admit(tablet, 3))),
            "damaged",
        ),
        ("by an administrator of another household", third(sheet, admit(tablet, 2)), "damaged"),
        (
            "by an administrator that was revoked",
            chain(*phones, (sheet, revoke(first_phone)), (first_phone, admit(tablet, 3))),
            "damaged",
        ),
        ("a companion made an administrator", [first, replaced(second, 72, b"\3")], "damaged"),
        ("role 0", third(den, admit(tablet, 0)), "malformed"),
        ("role 4", third(den, admit(tablet, 4)), "malformed"),
        ("kind 3", third(den, (3, device_id(phone))), "malformed"),
        ("a key that is no point", [first, flipped(second, 73 + 64)], "malformed"),
        ("not zero where zero is", third(den, admit(tablet, 2), zeros=b"\0\1"), "malformed"),
        ("another magic", third(den, admit(tablet, 2), magic=b"APEV\1"), "malformed"),
        ("version 2", third(den, admit(tablet, 2), magic=b"APRO\2"), "unknownVersion"),
        ("cut", [first, second[:-1]], "malformed"),
        ("one byte more", [first, second + b"\0"], "malformed"),
    ]
    write(
        "roster.json",
        opens,
        [{"name": label, "entries": [one.hex() for one in entries], "error": error} for label, entries, error in cases],
    )


def signed_record(name, epoch, author, blobs, sealed):
    digest = b"" if sealed is None else hashlib.sha256(sealed).digest()
    return fields(*record_fields(name), number(epoch, 4), author, b"".join(blobs), digest)


def signed_records():
    author, other = device("den"), device("laptop")
    blobs = [bytes.fromhex(ident("blob 1")), bytes.fromhex(ident("blob 2"))]

    def case(label, name, epoch, blobs, sealed, made, key=author):
        return {
            "name": label,
            "record": name,
            "epoch": epoch,
            "blobs": [blob.hex() for blob in blobs],
            "sealed": None if sealed is None else sealed.hex(),
            "publicKey": point(key["signing"]).hex(),
            "author": device_id(key).hex(),
            "signature": made.hex(),
        }

    def sign(label, name, epoch, blobs, sealed, key=author, purpose="record", writer=None):
        message = signed_record(name, epoch, device_id(writer or key), blobs, sealed)
        return signature("signed record " + label, key["signing"], purpose, message)

    opens = []
    for label, collection, revision, epoch, ids, sealed in [
        ("a note", "notes", 1, 1, [], fixed("note", 300)),
        ("a tombstone", "notes", 7, 3, [], None),
        ("a photo", "intruders", 1, 2, blobs[:1], fixed("photo", 400)),
        ("two blobs", "moments", 2, 1, blobs, b"x"),
    ]:
        name = record("signed " + label, collection, revision)
        opens.append(case(label, name, epoch, ids, sealed, sign(label, name, epoch, ids, sealed)))
    name, sealed = record("signed", "notes", 2), fixed("sealed", 256)
    good = sign("good", name, 1, blobs, sealed)
    cases = [
        ("another vault", {**name, "vault": ident("other")}, 1, blobs, sealed, good),
        ("another collection", {**name, "collection": "files"}, 1, blobs, sealed, good),
        ("another id", {**name, "id": ident("other")}, 1, blobs, sealed, good),
        ("another revision", {**name, "revision": 3}, 1, blobs, sealed, good),
        ("another epoch", name, 2, blobs, sealed, good),
        ("a blob less", name, 1, blobs[:1], sealed, good),
        ("blobs exchanged", name, 1, blobs[::-1], sealed, good),
        ("other bytes", name, 1, blobs, flipped(sealed, 9), good),
        ("made a tombstone", name, 1, blobs, None, good),
        ("for another purpose", name, 1, blobs, sealed, sign("audit", name, 1, blobs, sealed, purpose="audit")),
        ("in another's name", name, 1, blobs, sealed, sign("stolen", name, 1, blobs, sealed, writer=other)),
        ("a flipped signature", name, 1, blobs, sealed, flipped(good, 40)),
    ]
    write("signed_record.json", opens, [case(*one) for one in cases])


def write_all():
    rosters()
    signed_records()
