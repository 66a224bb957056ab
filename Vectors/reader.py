#!/usr/bin/env python3
"""A second, independent reader of everything that AppLocker seals, written from docs/formats.md only.

    reader.py FOLDER     opens what FOLDER/manifest.json lists and prints the contents as JSON
    reader.py            runs every vector in this directory and prints their number

Exits with 1 if something does not open, or opens although it must be refused."""

import base64
import hashlib
import hmac
import json
import pathlib
import re
import sys

from sealed_formats import (
    CROCKFORD,
    TAG,
    ZERO,
    Reader,
    Refused,
    audit_beginning,
    audit_next,
    ec,
    fields,
    gcm_open,
    hkdf,
    hpke_key,
    is_signature,
    number,
    open_committed,
    private_key,
    public_bytes,
    public_key,
    record_fields,
    recovery_digits,
    stream_name,
    stretch,
    unpad,
)

PAIRING_WORDS = json.loads((pathlib.Path(__file__).parent / "pairing_words.json").read_text())

SLOTS = 940


def check_slots(block):
    """Refuses an invalid key-slot block; returns whether a secret is mixed in."""
    reader = Reader(block)
    reader.magic(b"APKS")
    algorithm, mixed, count, cost = reader.number(1), reader.number(1), reader.number(1), reader.number(4)
    reader.expect(mixed <= 1 and count == 8, "mixed secret or number of slots")
    if algorithm not in (1, 2):
        raise Refused("unknownAlgorithm")
    if not (17 <= cost <= 20 if algorithm == 1 else 600_000 <= cost <= 10_000_000):
        raise Refused("parametersOutOfRange")
    reader.take(32 + 8 * 112)
    reader.end()
    return mixed == 1


def open_slots(block, kek):
    """Returns the root key and its slot, or None if no slot has this passcode."""
    bound = fields("applocker/1/slot", block[:44])
    for index in range(8):
        slot = block[44 + 112 * index :][:112]
        try:
            key, _ = open_committed(kek, slot[:32], slot[32:64], bound)
            return gcm_open(key, ZERO, slot[64:], bound), index
        except Refused:
            continue
    return None


def read_slots(block, passcode, mixed_secret):
    if check_slots(block) != (mixed_secret is not None):
        raise Refused("machineSecretMissing")
    found = open_slots(block, stretch(passcode, block[:44], mixed_secret))
    if found is None:
        raise Refused("wrongKey")
    return found


def read_ring_plaintext(ring):
    reader = Reader(ring)
    count = reader.number(2)
    reader.expect(count <= 4096 and len(reader.unread) == count * 53, "number of entries")
    entries, last = [], (0, b"", 0)
    for _ in range(count):
        kind, vault, epoch, key = reader.number(1), reader.take(16), reader.number(4), reader.take(32)
        reader.expect(kind in (1, 2, 3, 4) and epoch > 0 and (kind, vault, epoch) > last, "an entry")
        last = (kind, vault, epoch)
        entries.append({"kind": kind, "vault": vault.hex(), "epoch": epoch, "key": key.hex()})
    return entries


def read_ring(sealed, root_key):
    reader = Reader(sealed)
    reader.magic(b"APKR")
    salt, commitment = reader.take(32), reader.take(32)
    bound = fields("applocker/1/ring")
    key, _ = open_committed(root_key, salt, commitment, bound)
    return read_ring_plaintext(gcm_open(key, ZERO, reader.rest(), bound))


def read_envelope(sealed, name, vault_key):
    reader = Reader(sealed)
    reader.magic(b"APEV")
    reader.zeros(3)
    wrap_epoch, body_epoch = reader.number(4), reader.number(4)
    salt, commitment, wrapped, body = reader.take(32), reader.take(32), reader.take(48), reader.rest()
    reader.expect(0 < body_epoch <= wrap_epoch, "epochs")
    reader.expect(256 <= len(body) - TAG <= 16 << 20, "length of the body")
    bound = fields("applocker/1/wrap", *record_fields(name, number(wrap_epoch, 4)))
    key, _ = open_committed(vault_key, salt, commitment, bound)
    item_key = gcm_open(key, ZERO, wrapped, bound)
    body_key = hkdf(item_key, b"", b"applocker/1/body-key", 32)
    bound = fields("applocker/1/body", *record_fields(name, number(body_epoch, 4)))
    return unpad(gcm_open(body_key, ZERO, body, bound))


def read_stream(sealed, name, content_key):
    reader = Reader(sealed)
    reader.magic(b"APST")
    logarithm = reader.number(1)
    if logarithm not in (16, 18, 20):
        raise Refused("parametersOutOfRange")
    reader.zeros(2)
    salt, commitment = reader.take(32), reader.take(32)
    info = fields("applocker/1/stream", sealed[:8], stream_name(name))
    key, prefix = open_committed(content_key, salt, commitment, info)
    size = (1 << logarithm) + TAG
    chunks = reader.rest()
    full, part = divmod(len(chunks), size)
    reader.expect(part > TAG or part == 0 < full or part == TAG and full == 0, "a size that no stream has")
    count = max(1, -(-len(chunks) // size))
    content = []
    for index in range(count):
        chunk = chunks[index * size :][:size]
        nonce = prefix + number(index, 4) + number(index == count - 1, 1)
        content.append(gcm_open(key, nonce, chunk))
    return b"".join(content)


def open_box(sealed, scalar, info, data):
    reader = Reader(sealed)
    reader.magic(b"APBX")
    own = private_key(scalar)
    point = public_bytes(own.public_key())
    if reader.take(8) != hashlib.sha256(point).digest()[:8]:
        raise Refused("wrongKey", "another recipient")
    enc = reader.take(65)
    try:
        shared = own.exchange(ec.ECDH(), public_key(enc))
    except ValueError:
        raise Refused("damaged", "no point of the curve") from None
    key, nonce = hpke_key(shared, enc, point, info)
    return gcm_open(key, nonce, reader.rest(), data)


def read_box(sealed, name, scalar):
    return unpad(open_box(sealed, scalar, fields("applocker/1/box", "record"), fields(*record_fields(name))))


def read_epoch_keys(sealed, name, epoch, member, scalar):
    """The keys of a member, None without a box for it; and the id of the vault."""
    household = bytes.fromhex(name["vault"])
    one = hashlib.sha256(fields("applocker/1/vault-keys", household, number(epoch, 4))).hexdigest()[:32]
    vault = hashlib.sha256(fields("applocker/1/shared-vault", household)).hexdigest()[:32]
    reader = Reader(sealed)
    reader.magic(b"APVK")
    boxes = {}
    for _ in range(reader.number(2)):
        owner = reader.take(16).hex()
        boxes[owner] = reader.take(reader.number(4))
    reader.end()
    if member not in boxes:
        return None, vault
    entries = read_ring_plaintext(read_box(boxes[member], {**name, "id": member}, scalar))
    ours = {(1, vault), (4, name["vault"])}
    found = {(entry["kind"], entry["epoch"]) for entry in entries}
    reader.expect(
        name["id"] == one
        and all((entry["kind"], entry["vault"]) in ours and entry["epoch"] <= epoch for entry in entries)
        and {(1, epoch), (4, epoch)} <= found,
        "the keys",
    )
    return entries, vault


def read_audit(point, events):
    """Returns the head; refuses a link that does not continue the chain."""
    current, position = audit_beginning(point), 0
    for event in events:
        position += 1
        current = audit_next(current, position, event)
        if bytes.fromhex(event["hash"]) != current or not is_signature(
            bytes.fromhex(event["signature"]), point, "audit", current
        ):
            raise Refused("damaged", f"link {position}")
    return f"{position}:{current.hex()}"


def is_point(point):
    try:
        public_key(point)
        return True
    except (ValueError, Refused):
        return False


# Roles that admit and revoke: computer and administrator.
ADMINISTERS = (1, 3)


def read_roster_entry(sealed):
    """Number, previous hash, author, change, signed bytes and signature."""
    reader = Reader(sealed)
    reader.magic(b"APRO")
    kind = reader.number(1)
    reader.zeros(2)
    position, previous, _, author = reader.number(8), reader.take(32), reader.number(8), reader.take(16)
    reader.expect(kind in (1, 2), "kind")
    if kind == 1:
        role, signing, box = reader.number(1), reader.take(65), reader.take(65)
        reader.expect(role in (1, 2, 3) and is_point(signing) and is_point(box), "role or keys")
        change = {
            "id": hashlib.sha256(signing).hexdigest()[:32],
            "role": role,
            "signingKey": signing.hex(),
            "boxKey": box.hex(),
        }
    else:
        change = reader.take(16).hex()
    signature = reader.take(64)
    reader.end()
    return position, previous, author.hex(), change, sealed[:-64], signature


def read_roster(entries):
    """Household, head, members and revoked devices; refuses a broken chain."""

    def need(condition):
        if not condition:
            raise Refused("damaged", "the chain")

    if not entries:
        raise Refused("malformed", "no entry")
    household, head, members, revoked = None, bytes(32), {}, set()
    for expected, sealed in enumerate(entries, 1):
        position, previous, author, change, signed, signature = read_roster_entry(sealed)
        need(position == expected and previous == head)
        if household is None:
            need(isinstance(change, dict) and change["id"] == author and change["role"] in ADMINISTERS)
            signer = change
        else:
            signer = members.get(author)
            need(signer is not None and signer["role"] in ADMINISTERS)
        need(is_signature(signature, bytes.fromhex(signer["signingKey"]), "roster", signed))
        if isinstance(change, dict):
            need(change["id"] not in members and change["id"] not in revoked)
            members[change["id"]] = change
        else:
            need(change in members)
            need(any(one["role"] in ADMINISTERS for id, one in members.items() if id != change))
            del members[change]
            revoked.add(change)
        head = hashlib.sha256(fields("applocker/1/roster", signed)).digest()
        household = household or head[:16].hex()
    return household, head.hex(), list(members.values()), sorted(revoked)


def read_start_invitation(text, token):
    """The id and expiry of a link of a hub's operator."""
    if not re.fullmatch("[A-Za-z0-9_-]{4,128}", text) or len(text) % 4 == 1:
        raise Refused("malformed", "no link")
    reader = Reader(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if reader.number(1) != 1:
        raise Refused("unknownVersion")
    one, expires, mac = reader.take(16), reader.number(8), reader.take(32)
    reader.end()
    expected = hmac.digest(token.encode(), fields("applocker/1/start", one, number(expires, 8)), "sha256")
    if not hmac.compare_digest(mac, expected):
        raise Refused("damaged", "the code")
    return {"id": one.hex(), "expires": expires}


LINK_ROLES = {1: "companion", 2: "computer", 3: "administrator"}


def read_pairing_code(typed, details):
    """The invitation of a typed code, with what the hub keeps for it."""
    plain = re.sub(r"[\s-]", "", typed).upper().translate(str.maketrans("OIL", "011"))
    if not re.fullmatch(f"[{CROCKFORD}]{{20}}", plain):
        raise Refused("malformed", "not 20 digits")
    value, groups = 0, [plain[start : start + 5] for start in range(0, 20, 5)]
    for index, group in enumerate(groups):
        hashed = hashlib.sha256(fields("applocker/1/pair-code-check", bytes([index]), group[:4].encode())).digest()
        if CROCKFORD[hashed[0] >> 3] != group[4]:
            raise Refused("malformed", f"group {index + 1}")
        for digit in group[:4]:
            value = value << 5 | CROCKFORD.index(digit)
    code = value.to_bytes(10)
    one = hkdf(code, b"", b"applocker/1/pair-code-id", 16)
    secret = hkdf(code, b"", b"applocker/1/pair-code-secret", 32)
    key = hkdf(secret, b"", b"applocker/1/pair-details", 32)
    body = Reader(gcm_open(key, ZERO, details, fields("applocker/1/pair-details", one)))
    version = body.number(1)
    if version not in LINK_ROLES:
        raise Refused("unknownVersion")
    household, computer = body.take(16), body.take(16)
    body.end()
    return {
        "code": code.hex(),
        "text": "-".join(groups),
        "invitation": one.hex(),
        "secret": secret.hex(),
        "role": LINK_ROLES[version],
        "household": household.hex(),
        "computer": computer.hex(),
    }


def read_invitation(link, join):
    """The contents of a pairing link, and the device that joined with it."""
    hub, mark, text = link.partition("/#pair=")
    if not mark or not re.fullmatch("[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        raise Refused("malformed", "no link")
    packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    reader = Reader(packed)
    version = reader.number(1)
    if version not in LINK_ROLES:
        raise Refused("unknownVersion")
    household, computer, invitation, secret = (reader.take(size) for size in (16, 16, 16, 32))
    reader.end()
    key = hkdf(secret, b"", b"applocker/1/pair-key", 32)
    body = Reader(unpad(gcm_open(key, ZERO, join, fields("applocker/1/pair", household, computer, invitation))))
    signing, box, name = body.take(65), body.take(65), body.rest()
    body.expect(is_point(signing) and is_point(box) and 1 <= len(name) <= 64, "keys or name")
    try:
        name = name.decode()
    except UnicodeDecodeError:
        raise Refused("malformed", "the name") from None
    proof = hkdf(secret, b"", b"applocker/1/pair-proof", 32)
    transcript = fields("applocker/1/pair-words", household, computer, invitation, signing, box)
    return {
        "hub": hub,
        "role": LINK_ROLES[version],
        "household": household.hex(),
        "computer": computer.hex(),
        "invitation": invitation.hex(),
        "proof": proof.hex(),
        "proofHash": hashlib.sha256(proof).hexdigest(),
        "signingKey": signing.hex(),
        "boxKey": box.hex(),
        "words": [PAIRING_WORDS[byte] for byte in hkdf(secret, b"", transcript, 3)],
        "deviceName": name,
    }


def read_container(reader, purpose):
    reader.magic(b"APLK", version=2)
    reader.expect(reader.number(1) == purpose, "purpose")
    reader.zeros(2)


def read_locked_file(sealed, vault_key):
    reader = Reader(sealed)
    read_container(reader, 2)
    vault, item = reader.take(16).hex(), reader.take(16).hex()
    length = reader.number(4)
    reader.expect(1 <= length <= 1 << 20, "length of the envelope")
    name = {"vault": vault, "collection": "locked-files", "id": item, "revision": 1}
    body = json.loads(read_envelope(reader.take(length), name, vault_key))
    return body, read_stream(reader.rest(), name, base64.b64decode(body["contentKey"]))


def read_backup(sealed, passphrase, root_key=None):
    """Pairs of kind and bytes, without the end. A known root key replaces the passphrase."""
    reader = Reader(sealed)
    read_container(reader, 1)
    block = reader.take(SLOTS)
    reader.expect(not check_slots(block), "a mixed secret")
    if root_key is None:
        root_key, _ = read_slots(block, passphrase, None)
    content = Reader(read_stream(reader.rest(), {"purpose": "backup"}, root_key))
    entries = []
    while True:
        kind, length = content.number(1), content.number(8)
        content.expect(kind in (1, 2, 3, 4, 5, 255) and (kind == 1) == (not entries), "kind of an entry")
        content.expect(kind != 5 or length >= 16, "a blob without an id")
        if kind != 5 and length > 32 << 20:
            raise Refused("tooLarge")
        if kind == 255:
            content.expect(length == 0, "an end that is not empty")
            content.end()
            return entries
        entries.append((kind, content.take(length)))


def read_earlier(sealed, passcode, purpose):
    reader = Reader(sealed)
    reader.magic(b"APLK")
    salt, nonce = reader.take(32), reader.take(12)
    reader.expect(len(reader.unread) >= TAG, "too short")
    try:
        return gcm_open(hkdf(passcode, salt, purpose.encode(), 32), nonce, reader.rest())
    except Refused:
        raise Refused("wrongKey") from None


def read_recovery(text):
    """The 20 bytes."""
    digits = re.sub(r"[-\s]", "", text).upper().replace("I", "1").replace("L", "1").replace("O", "0")
    if len(digits) != 36 or any(digit not in CROCKFORD for digit in digits):
        raise Refused("malformed", "digits")
    value = 0
    for digit in digits:
        value = value << 5 | CROCKFORD.index(digit)
    secret = (value >> 20).to_bytes(20, "big")
    if recovery_digits(secret) != digits:
        raise Refused("malformed", "check digits")
    return secret


def opened(entry, folder):
    """The contents of one entry of a manifest."""
    kind = entry["format"]
    sealed = (folder / entry["file"]).read_bytes() if "file" in entry else b""

    def given(key):
        return bytes.fromhex(entry[key]) if entry.get(key) is not None else None

    if kind == "slots":
        root_key, slot = read_slots(sealed, entry["passcode"].encode(), given("mixedSecret"))
        return {"rootKey": root_key.hex(), "slot": slot}
    if kind == "ring":
        return {"entries": read_ring(sealed, given("key"))}
    if kind == "envelope":
        return {"content": hashlib.sha256(read_envelope(sealed, entry["name"], given("key"))).hexdigest()}
    if kind == "stream":
        return {"content": hashlib.sha256(read_stream(sealed, entry["name"], given("key"))).hexdigest()}
    if kind == "box":
        return {"content": hashlib.sha256(read_box(sealed, entry["name"], given("key"))).hexdigest()}
    if kind == "signature":
        return {"valid": is_signature(sealed, given("publicKey"), entry["purpose"], given("message"))}
    if kind == "audit":
        return {"head": read_audit(given("publicKey"), entry["events"])}
    if kind == "locked-file":
        body, content = read_locked_file(sealed, given("key"))
        return {"body": body["name"], "content": hashlib.sha256(content).hexdigest()}
    if kind == "backup":
        entries = read_backup(sealed, entry["passcode"].encode())
        return {
            "kinds": [kind for kind, _ in entries],
            "content": hashlib.sha256(b"".join(content for _, content in entries)).hexdigest(),
        }
    if kind == "recovery":
        return {"secret": read_recovery(entry["text"]).hex()}
    raise Refused("malformed", f"format {kind}")


def main():
    if len(sys.argv) != 2:
        import vectors

        sys.exit(vectors.run())
    folder = pathlib.Path(sys.argv[1])
    results = []
    for entry in json.loads((folder / "manifest.json").read_text()):
        try:
            results.append({"format": entry["format"], **opened(entry, folder)})
        except Refused as refused:
            results.append({"format": entry["format"], "error": refused.code})
    print(json.dumps(results))
    sys.exit(any("error" in result for result in results))


if __name__ == "__main__":
    main()
