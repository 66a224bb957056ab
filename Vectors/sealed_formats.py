"""The building blocks of docs/formats.md in Python, written from that page only: make_sealed_vectors.py seals with
them and reader.py opens with them. Needs `cryptography` (Debian: python3-cryptography)."""

import hashlib
import hmac
import struct

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ZERO = bytes(12)
TAG = 16
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class Refused(Exception):
    """`code` is the code of the error that a reader must report."""

    def __init__(self, code, what=""):
        super().__init__(f"{code}: {what}")
        self.code = code


def number(value, size):
    return value.to_bytes(size, "big")


def fields(*values):
    """F of docs/formats.md; text is encoded as UTF-8."""
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    return b"".join(number(len(value), 4) + value for value in encoded)


def hkdf(material, salt, info, length):
    return HKDF(hashes.SHA256(), length, salt or None, info).derive(material)


def gcm_seal(key, nonce, plaintext, data=b""):
    return AESGCM(key).encrypt(nonce, plaintext, data)


def gcm_open(key, nonce, sealed, data=b""):
    if len(sealed) < TAG:
        raise Refused("damaged", "shorter than a tag")
    try:
        return AESGCM(key).decrypt(nonce, sealed, data)
    except InvalidTag:
        raise Refused("damaged", "the tag does not fit") from None


def committed(key, salt, info):
    """Sealing key, commitment, nonce prefix."""
    output = hkdf(key, salt, info, 71)
    return output[:32], output[32:64], output[64:]


def open_committed(key, salt, commitment, info):
    sealing, expected, prefix = committed(key, salt, info)
    if not hmac.compare_digest(expected, commitment):
        raise Refused("wrongKey", "the commitment does not fit")
    return sealing, prefix


class Reader:
    def __init__(self, data):
        self.unread = data

    def take(self, count):
        if len(self.unread) < count:
            raise Refused("malformed", "ends too early")
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def magic(self, magic, version=1):
        if self.take(len(magic)) != magic:
            raise Refused("malformed", "another magic")
        if self.number(1) != version:
            raise Refused("unknownVersion")

    def expect(self, condition, what):
        if not condition:
            raise Refused("malformed", what)

    def zeros(self, count):
        self.expect(not any(self.take(count)), "not zero")

    def rest(self):
        return self.take(len(self.unread))

    def end(self):
        self.expect(not self.unread, "bytes left over")


# Padding


def padded_length(count):
    length = count + 4
    if length <= 256:
        return 256
    exponent = length.bit_length() - 1
    unit = 1 << (exponent - exponent.bit_length())
    return -(-length // unit) * unit


def pad(body):
    return (number(len(body), 4) + body).ljust(padded_length(len(body)), b"\0")


def unpad(padded):
    if len(padded) < 4:
        raise Refused("damaged", "padding")
    count = int.from_bytes(padded[:4], "big")
    if padded_length(count) != len(padded) or any(padded[4 + count :]):
        raise Refused("damaged", "padding")
    return padded[4 : 4 + count]


# Names


def record_fields(name, *more):
    """`name` has vault, collection, id (hexadecimal) and revision."""
    return (
        bytes.fromhex(name["vault"]),
        name["collection"],
        bytes.fromhex(name["id"]),
        number(name["revision"], 8),
        *more,
    )


def stream_name(name):
    if "purpose" in name:
        return fields(name["purpose"])
    return fields(bytes.fromhex(name["vault"]), name["collection"], bytes.fromhex(name["id"]))


# Passcode to key


def stretch(passcode, header, mixed_secret):
    """Derives a key from a passcode. `header`: the first 44 bytes of a key-slot block."""
    algorithm, cost, salt = header[5], struct.unpack(">I", header[8:12])[0], header[12:44]
    if algorithm == 1:
        rounds = 1 << cost
        stretched = hashlib.scrypt(passcode, salt=salt, n=rounds, r=8, p=1, dklen=32, maxmem=1024 * rounds + (1 << 20))
    else:
        stretched = hashlib.pbkdf2_hmac("sha256", passcode, salt, cost, 32)
    return hkdf(stretched, mixed_secret, b"applocker/1/kek", 32)


# HPKE, RFC 9180, base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM; one message a context, so that the
# nonce is the base nonce.

KEM_SUITE = b"KEM" + number(0x0010, 2)
HPKE_SUITE = b"HPKE" + number(0x0010, 2) + number(0x0001, 2) + number(0x0002, 2)


def extract(suite, salt, label, material):
    return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + material, "sha256").digest()


def expand(suite, key, label, info, length):
    return HKDFExpand(hashes.SHA256(), length, number(length, 2) + b"HPKE-v1" + suite + label + info).derive(key)


def hpke_key(shared_point, enc, recipient, info):
    """Key and base nonce, from the Diffie-Hellman value."""
    secret = expand(KEM_SUITE, extract(KEM_SUITE, b"", b"eae_prk", shared_point), b"shared_secret", enc + recipient, 32)
    context = b"\0" + extract(HPKE_SUITE, b"", b"psk_id_hash", b"") + extract(HPKE_SUITE, b"", b"info_hash", info)
    schedule = extract(HPKE_SUITE, secret, b"secret", b"")
    return expand(HPKE_SUITE, schedule, b"key", context, 32), expand(HPKE_SUITE, schedule, b"base_nonce", context, 12)


def private_key(scalar):
    return ec.derive_private_key(int.from_bytes(scalar, "big"), ec.SECP256R1())


def public_bytes(key):
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def public_key(point):
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


# Signatures


def signed_bytes(purpose, message):
    return fields("applocker/1/signature", purpose, message)


def is_signature(signature, point, purpose, message):
    if len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        public_key(point).verify(
            utils.encode_dss_signature(r, s), signed_bytes(purpose, message), ec.ECDSA(hashes.SHA256())
        )
        return True
    except InvalidSignature:
        return False


# Audit chain


def audit_beginning(point):
    return hashlib.sha256(fields("applocker/1/audit", point)).digest()


def audit_event(event):
    def optional(key):
        value = event.get(key)
        return b"\0" if value is None else b"\1" + str(value).encode()

    return fields(
        struct.pack(">d", event["time"]),
        event["kind"],
        optional("app"),
        optional("user"),
        optional("process"),
        optional("path"),
        optional("reason"),
        event["sentence"],
    )


def audit_next(previous, position, event):
    return hashlib.sha256(fields("applocker/1/audit-link", previous, number(position, 8), audit_event(event))).digest()


# Recovery code

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def recovery_check(secret):
    return int.from_bytes(hashlib.sha256(fields("applocker/1/recovery-check", secret)).digest(), "big") >> 236


def recovery_digits(secret):
    value = int.from_bytes(secret, "big") << 20 | recovery_check(secret)
    return "".join(CROCKFORD[value >> (5 * place) & 31] for place in reversed(range(36)))
