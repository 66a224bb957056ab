"""Part of make_sealed_vectors.py: the keys of an epoch, with a box for each member."""

import hashlib

from make_household_vectors import device, device_id
from make_sealed_vectors import fixed, ident, replaced, ring_plaintext, write
from make_signed_vectors import box, point
from sealed_formats import fields, number, pad, record_fields


def derived(label, *parts):
    return hashlib.sha256(fields(label, *parts)).digest()[:16]


def write_all():
    phone, den = device("phone"), device("den")
    household = bytes.fromhex(ident("phone household"))
    vault = derived("applocker/1/shared-vault", household).hex()
    # Of the member in its own household.
    own = device_id(den)
    owner = derived("applocker/1/vault-owner", household, device_id(phone), own).hex()
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
        opens.append(case(label, epoch, sealed, name, entries, vault=vault, device=own.hex(), owner=owner))
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
