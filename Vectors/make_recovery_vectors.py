"""Part of make_sealed_vectors.py: recovery codes, and the devices of recovery sheets."""

import base64
import hashlib

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from make_sealed_vectors import fixed, ident, write
from sealed_formats import ORDER, fields, hkdf, recovery_digits


def write_all():
    opens = []
    for label, secret in [
        ("zeros", bytes(20)),
        ("ones", b"\xff" * 20),
        ("counting", bytes(range(20))),
        ("one bit", bytes(19) + b"\1"),
        ("random", fixed("recovery", 20)),
        ("more random", fixed("recovery 2", 20)),
    ]:
        digits = recovery_digits(secret)
        printed = "-".join(digits[place : place + 4] for place in range(0, 36, 4))
        typed = [
            printed,
            digits,
            printed.lower(),
            " " + printed.replace("-", " ") + "\n",
            "-".join(digits),
            printed.replace("0", "o").replace("1", "l"),
            printed.replace("0", "O").replace("1", "I"),
        ]
        opens.append({"name": label, "secret": secret.hex(), "printed": printed, "passcode": digits, "typed": typed})
    digits = recovery_digits(fixed("recovery", 20))
    swapped = digits[:7] + digits[8] + digits[7] + digits[9:]
    assert swapped != digits
    mistyped = digits[:10] + ("0" if digits[10] != "0" else "1") + digits[11:]
    write(
        "recovery.json",
        opens,
        [
            {"name": label, "typed": typed, "error": "malformed"}
            for label, typed in [
                ("empty", ""),
                ("dashes alone", "-" * 36),
                ("a digit missing", digits[:-1]),
                ("a digit too many", digits + "0"),
                ("twice", digits * 2),
                ("U is no digit", "U" + digits[1:]),
                ("another alphabet", "É" + digits[1:]),
                ("a NUL", "\0" + digits),
                ("an underscore", digits + "_"),
                ("a digit mistyped", mistyped),
                ("two digits exchanged", swapped),
                ("last check digit", digits[:-1] + ("0" if digits[-1] != "0" else "1")),
            ]
        ],
    )


def derived(secret, purpose, household):
    """The keys of "Households of phones" in docs/formats.md."""

    def pair(kind):
        wide = hkdf(secret, b"", fields(purpose, kind, bytes.fromhex(household)), 48)
        scalar = int.from_bytes(wide, "big") % (ORDER - 1) + 1
        key = ec.derive_private_key(scalar, ec.SECP256R1()).public_key()
        return scalar.to_bytes(32, "big"), key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    (signing, signing_point), (box, box_point) = pair("signing"), pair("box")
    return {
        "device": hashlib.sha256(signing_point).digest()[:16].hex(),
        "signing": signing.hex(),
        "signingKey": signing_point.hex(),
        "box": box.hex(),
        "boxKey": box_point.hex(),
        "token": hkdf(secret, b"", fields(purpose, "token"), 32).hex(),
    }


def sheet_link(household, secret, version=1, hub="https://hub.example"):
    data = bytes([version]) + bytes.fromhex(household) + secret
    return f"{hub}/#recover={base64.urlsafe_b64encode(data).decode().rstrip('=')}"


def write_sheets():
    opens = []
    for label, secret, household, purpose in [
        ("zeros", bytes(20), "00" * 16, "applocker/1/sheet"),
        ("a sheet", fixed("recovery", 20), ident("household"), "applocker/1/sheet"),
        ("of another household", fixed("recovery", 20), ident("household 2"), "applocker/1/sheet"),
        ("a spare member", fixed("spare", 32), ident("household"), "applocker/1/spare"),
    ]:
        vector = {"name": label, "secret": secret.hex(), "household": household, "purpose": purpose}
        if purpose == "applocker/1/sheet":
            vector["link"] = sheet_link(household, secret)
        opens.append(vector | derived(secret, purpose, household))
    secret, household = fixed("recovery", 20), ident("household")
    good = sheet_link(household, secret)
    write(
        "recovery_sheet.json",
        opens,
        [
            {"name": label, "link": link, "error": error}
            for label, link, error in [
                ("another kind of link", good.replace("recover", "pair"), "malformed"),
                ("nothing behind the mark", "https://hub.example/#recover=", "malformed"),
                ("not base64url", good.replace("recover=A", "recover=+"), "malformed"),
                ("padded", good + "=", "malformed"),
                ("a secret of 19 bytes", sheet_link(household, secret[:-1]), "malformed"),
                ("a secret of 21 bytes", sheet_link(household, secret + b"\0"), "malformed"),
                ("version 0", sheet_link(household, secret, 0), "unknownVersion"),
                ("version 2", sheet_link(household, secret, 2), "unknownVersion"),
            ]
        ],
    )
