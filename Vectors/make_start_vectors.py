"""Part of make_sealed_vectors.py: a hub operator's start links."""

import base64
import hmac

from make_sealed_vectors import fixed, flipped, ident, write
from sealed_formats import fields, number


def start_link(token, expires, one, version=1, cut=None):
    mac = hmac.digest(token.encode(), fields("applocker/1/start", one, number(expires, 8)), "sha256")
    packed = bytes([version]) + one + number(expires, 8) + mac
    return base64.urlsafe_b64encode(packed[:cut]).decode().rstrip("=")


def write_all():
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
