"""Part of make_sealed_vectors.py: pairing links and typed codes."""

import base64
import hashlib
import json

from make_household_vectors import device
from make_sealed_vectors import FOLDER, fixed, flipped, ident, write
from make_signed_vectors import point
from sealed_formats import CROCKFORD, ZERO, fields, gcm_seal, hkdf, pad


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


def write_all():
    invitations()
    pairing_codes()
