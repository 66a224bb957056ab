"""Part of make_sealed_vectors.py: the roster, signed records, pairing links."""

import base64
import hashlib
import hmac
import json

from make_sealed_vectors import FOLDER, fixed, flipped, ident, record, replaced, ring_plaintext, write
from make_signed_vectors import box, point, scalar, signature
from sealed_formats import CROCKFORD, ZERO, fields, gcm_seal, hkdf, number, pad, record_fields


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


def invitation_link(hub, household, computer, invitation, secret, version):
    packed = bytes([version]) + household + computer + invitation + secret
    return hub + "/#pair=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def invitations():
    phone = device("phone")
    household, computer, one = (bytes.fromhex(ident(name)) for name in ("household", "computer", "invitation"))
    secret = fixed("invitation secret", 32)
    proof = hkdf(secret, b"", b"applocker/1/pair-proof", 32)
    key = hkdf(secret, b"", b"applocker/1/pair-key", 32)
    bound = fields("applocker/1/pair", household, computer, one)

    keys = point(phone["signing"]), point(phone["box"])
    transcript = fields("applocker/1/pair-words", household, computer, one, *keys)
    words = json.loads((FOLDER / "pairing_words.json").read_text())

    def body(name, signing=keys[0], box=keys[1]):
        return signing + box + name

    def joined(name):
        return gcm_seal(key, ZERO, pad(body(name.encode())), bound).hex()

    def link(hub="https://hub.example", version=1):
        return invitation_link(hub, household, computer, one, secret, version)

    def case(label, link, join=None, **more):
        return {"name": label, "link": link, "join": join, **more}

    opens = [
        case(
            label,
            link(hub, version),
            joined(name),
            hub=hub,
            role=role,
            household=household.hex(),
            computer=computer.hex(),
            invitation=one.hex(),
            proof=proof.hex(),
            proofHash=hashlib.sha256(proof).hexdigest(),
            signingKey=point(phone["signing"]).hex(),
            boxKey=point(phone["box"]).hex(),
            words=[words[byte] for byte in hkdf(secret, b"", transcript, 3)],
            deviceName=name,
        )
        for label, hub, name, role, version in [
            ("a phone", "https://hub.example", "Anna’s iPhone", "companion", 1),
            ("with a port", "http://127.0.0.1:8440", "x", "companion", 1),
            ("below a path", "https://example.org/applocker", "n" * 64, "companion", 1),
            ("a computer", "https://hub.example", "study", "computer", 2),
            ("a second phone", "https://hub.example", "Ben’s phone", "administrator", 3),
        ]
    ]
    good = gcm_seal(key, ZERO, pad(body(b"phone")), bound)
    cases = [
        case("no link", "https://hub.example", error="malformed"),
        case("cut", link()[:-4], error="malformed"),
        case("longer", link() + "AAAA", error="malformed"),
        case("not base64url", link().replace("pair=A", "pair=+"), error="malformed"),
        case("padded", link() + "=", error="malformed"),
        case("version 0", link(version=0), error="unknownVersion"),
        case("version 4", link(version=4), error="unknownVersion"),
        case(
            "a join without the secret",
            link(),
            gcm_seal(fixed("guess", 32), ZERO, pad(body(b"phone")), bound).hex(),
            error="damaged",
        ),
        case(
            "a join for another invitation",
            link(),
            gcm_seal(key, ZERO, pad(body(b"phone")), fields("applocker/1/pair", household, computer, computer)).hex(),
            error="damaged",
        ),
        case("a flipped join", link(), flipped(good, 20).hex(), error="damaged"),
        case("a join that is not padded", link(), gcm_seal(key, ZERO, body(b"phone"), bound).hex(), error="damaged"),
        case("an empty name", link(), joined(""), error="malformed"),
        case("a name of 65 bytes", link(), joined("n" * 65), error="malformed"),
        case(
            "a name that is not UTF-8", link(), gcm_seal(key, ZERO, pad(body(b"\xff")), bound).hex(), error="malformed"
        ),
        case(
            "a key that is no point",
            link(),
            gcm_seal(key, ZERO, pad(body(b"phone", signing=bytes(65))), bound).hex(),
            error="malformed",
        ),
    ]
    write("invitation.json", opens, cases)


def start_link(token, expires, one, version=1, cut=None):
    mac = hmac.digest(token.encode(), fields("applocker/1/start", one, number(expires, 8)), "sha256")
    packed = bytes([version]) + one + number(expires, 8) + mac
    return base64.urlsafe_b64encode(packed[:cut]).decode().rstrip("=")


def start_invitations():
    token, one = base64.urlsafe_b64encode(fixed("registration token", 24)).decode(), bytes.fromhex(ident("start"))
    text = start_link(token, 1800000000, one)

    def case(label, text, token=token, **more):
        return {"name": label, "text": text, "token": token, **more}

    opens = [
        case(label, start_link(token, expires, one), token, id=one.hex(), expires=expires)
        for label, token, expires in [
            ("a day", token, 1800000000),
            ("another token", "correct horse battery staple", 1800000000),
            ("the first second", token, 0),
        ]
    ]
    packed = base64.urlsafe_b64decode(text)

    def edited(position):
        return base64.urlsafe_b64encode(flipped(packed, position)).decode()

    cases = [
        case("nothing", "", error="malformed"),
        case("the whole link", "https://hub.example/#start=" + text, error="malformed"),
        case("padded", text + "=", error="malformed"),
        case("version 0", start_link(token, 1800000000, one, version=0), error="unknownVersion"),
        case("version 2", start_link(token, 1800000000, one, version=2), error="unknownVersion"),
        case("cut", start_link(token, 1800000000, one, cut=54), error="malformed"),
        case("longer", text + "AAAA", error="malformed"),
        case("very long", "A" * 132, error="malformed"),
        case("by another token", text, "another token of a hub", error="damaged"),
        case("a later expiry", edited(24), error="damaged"),
        case("another id", edited(1), error="damaged"),
        case("a flipped code", edited(56), error="damaged"),
    ]
    write("start_invitation.json", opens, cases)


def code_text(secret):
    """Four groups of four digits, each with its check digit."""
    value = int.from_bytes(secret)
    typed = "".join(CROCKFORD[value >> shift & 31] for shift in range(75, -1, -5))
    groups = [typed[start : start + 4] for start in range(0, 16, 4)]

    def check(index, group):
        return CROCKFORD[hashlib.sha256(fields("applocker/1/pair-code-check", bytes([index]), group)).digest()[0] >> 3]

    return "-".join(group + check(index, group.encode()) for index, group in enumerate(groups))


def pairing_codes():
    household, computer = (bytes.fromhex(ident(name)) for name in ("household", "computer"))

    def sealed(code, version=1, body=None, label=b"applocker/1/pair-details"):
        one = hkdf(code, b"", b"applocker/1/pair-code-id", 16)
        secret = hkdf(code, b"", b"applocker/1/pair-code-secret", 32)
        details = bytes([version]) + household + computer if body is None else body
        return gcm_seal(hkdf(secret, b"", label, 32), ZERO, details, fields("applocker/1/pair-details", one)).hex()

    def case(label, typed, details, **more):
        return {"name": label, "typed": typed, "details": details, **more}

    def opening(label, code, role, version, typed=None):
        text = code_text(code)
        return case(
            label,
            typed(text) if typed else text,
            sealed(code, version),
            code=code.hex(),
            text=text,
            invitation=hkdf(code, b"", b"applocker/1/pair-code-id", 16).hex(),
            secret=hkdf(code, b"", b"applocker/1/pair-code-secret", 32).hex(),
            role=role,
            household=household.hex(),
            computer=computer.hex(),
        )

    code = fixed("pairing code", 10)
    digits = bytes.fromhex("004420c4110043041041")
    opens = [
        opening("a phone", code, "companion", 1),
        opening("an administrator", fixed("another pairing code", 10), "administrator", 3),
        opening("zeros", bytes(10), "companion", 1),
        opening("ones", b"\xff" * 10, "companion", 1),
        opening(
            "in lower case, with spaces", code, "companion", 1, lambda text: f" {text.lower()} ".replace("-", "  ")
        ),
        opening("without dashes", code, "companion", 1, lambda text: text.replace("-", "")),
        opening(
            "O for 0, I and l for 1", digits, "companion", 1, lambda text: text.replace("0", "O").replace("1", "l", 2)
        ),
    ]
    text, good = code_text(code), sealed(code)
    groups = text.split("-")
    other = CROCKFORD[(CROCKFORD.index(text[2]) + 1) % 32]
    cases = [
        case("nothing", "", good, error="malformed"),
        case("a digit less", text[:-1], good, error="malformed"),
        case("a group less", "-".join(groups[:3]), good, error="malformed"),
        case("a digit more", text + "0", good, error="malformed"),
        case("a letter that is no digit", "U" + text[1:], good, error="malformed"),
        case("a wrong digit", text[:2] + other + text[3:], good, error="malformed"),
        case("two groups exchanged", "-".join([groups[1], groups[0], *groups[2:]]), good, error="malformed"),
        case("details of another code", text, sealed(fixed("another pairing code", 10)), error="damaged"),
        case("flipped details", text, flipped(bytes.fromhex(good), 5).hex(), error="damaged"),
        case("details under another key", text, sealed(code, label=b"applocker/1/pair-key"), error="damaged"),
        case("cut details", text, sealed(code, body=b"\1" + household + computer[:-1]), error="malformed"),
        case("longer details", text, sealed(code, body=b"\1" + household + computer + b"\0"), error="malformed"),
        case("version 0", text, sealed(code, version=0), error="unknownVersion"),
        case("version 4", text, sealed(code, version=4), error="unknownVersion"),
    ]
    write("pairing_code.json", opens, cases)


def derived(label, *parts):
    return hashlib.sha256(fields(label, *parts)).digest()[:16]


def epoch_keys():
    phone, den = device("phone"), device("den")
    household = bytes.fromhex(ident("phone household"))
    vault = derived("applocker/1/shared-vault", household).hex()
    info = fields("applocker/1/box", "record")

    def name_of(epoch, revision):
        one = derived("applocker/1/vault-keys", household, number(epoch, 4)).hex()
        return {"vault": household.hex(), "collection": "keys", "id": one, "revision": revision}

    def keys(*epochs):
        entries = [(kind, owner, epoch) for epoch in epochs for kind, owner in ((1, vault), (4, household.hex()))]
        return [(*entry, fixed(f"epoch key {entry}", 32)) for entry in sorted(entries)]

    def boxed(label, name, entries, *members):
        parts = []
        for member in members:
            one = device_id(member)
            data = fields(*record_fields({**name, "id": one.hex()}))
            sealed = box(f"{label} {one.hex()}", pad(ring_plaintext(entries)), point(member["box"]), info, data)
            parts.append(one + number(len(sealed), 4) + sealed)
        return b"APVK\1" + number(len(parts), 2) + b"".join(parts)

    def case(label, epoch, sealed, name, entries=None, **more):
        return {
            "name": label,
            "record": name,
            "epoch": epoch,
            "member": device_id(phone).hex(),
            "privateKey": phone["box"].hex(),
            "sealed": sealed.hex(),
            "entries": entries
            and [{"kind": kind, "vault": owner, "epoch": of, "key": key.hex()} for kind, owner, of, key in entries],
            **more,
        }

    opens = []
    for label, epoch, revision, entries, members in [
        ("the first epoch", 1, 1, keys(1), [phone]),
        ("two members, three epochs", 3, 4, keys(1, 2, 3), [den, phone]),
        ("an epoch that had no keys", 3, 1, keys(1, 3), [phone, den]),
        ("no box for this member", 2, 1, None, [den]),
    ]:
        name = name_of(epoch, revision)
        sealed = boxed(label, name, entries or keys(1, 2), *members)
        opens.append(case(label, epoch, sealed, name, entries, vault=vault))
    name = name_of(2, 1)
    good = boxed("good", name, keys(1, 2), phone)

    def with_entries(label, entries):
        return label, boxed(label, name, entries, phone), name

    other = ident("other")
    cases = [
        ("empty", b"", name),
        ("another magic", replaced(good, 0, b"APBX"), name),
        ("version 2", replaced(good, 4, b"\2"), name),
        ("a box too few", replaced(good, 6, b"\2"), name),
        ("cut", good[:-1], name),
        ("one byte more", good + b"\0", name),
        ("a box of 4 GiB", replaced(good, 23, b"\xff" * 4), name),
        ("another revision", good, {**name, "revision": 2}),
        ("the id of another epoch", boxed("epoch", name_of(1, 1), keys(1, 2), phone), name_of(1, 1)),
        ("the id of another household", boxed("id", {**name, "id": other}, keys(1, 2), phone), {**name, "id": other}),
        with_entries("without the key of its epoch", keys(1)),
        with_entries("a key of a later epoch", keys(1, 2, 3)),
        with_entries("a key of another vault", sorted([*keys(1, 2), (1, other, 1, fixed("other", 32))])),
        with_entries("a status key of another household", sorted([*keys(1, 2), (4, other, 1, fixed("other", 32))])),
        with_entries("an inbox key", sorted([*keys(1, 2), (2, vault, 1, fixed("other", 32))])),
        with_entries("a device key", sorted([*keys(1, 2), (3, household.hex(), 1, fixed("other", 32))])),
    ]
    write("epoch_keys.json", opens, [case(label, 2, sealed, of) for label, sealed, of in cases])


def write_all():
    pairing_codes()
    epoch_keys()
    start_invitations()
    rosters()
    signed_records()
    invitations()
