"""Runs every vector of this folder through reader.py: what opens must have the vector's content, what is refused must
be refused with the vector's code."""

import base64
import hashlib
import json
import pathlib

import moments as moment_formats
import reader
from make_stream_vectors import content_by_rule, stream
from sealed_formats import Refused, fields, is_signature, number, record_fields, recovery_digits

FOLDER = pathlib.Path(__file__).parent


def slots(case):
    block = bytes.fromhex(case["block"])
    if "passcode" in case:
        root_key, slot = reader.read_slots(
            block, case["passcode"].encode(), case["mixedSecret"] and bytes.fromhex(case["mixedSecret"])
        )
        assert (root_key.hex(), slot) == (case["rootKey"], case["slot"])
        return
    reader.check_slots(block)
    if reader.open_slots(block, bytes.fromhex(case["kek"])) is None:
        raise Refused("wrongKey")


def ring(case):
    entries = reader.read_ring(bytes.fromhex(case["ring"]), bytes.fromhex(case["rootKey"]))
    assert entries == case["entries"]


def envelope(case):
    body = reader.read_envelope(bytes.fromhex(case["envelope"]), case["record"], bytes.fromhex(case["vaultKey"]))
    assert body.hex() == case["body"]


def edited(sealed, edit):
    """One change to a stream with chunks of 64 KiB."""
    if not edit:
        return sealed
    size = (1 << 16) + 16
    chunks = [sealed[start : start + size] for start in range(72, len(sealed), size)]
    match edit:
        case ["flip", position, bit]:
            return sealed[:position] + bytes([sealed[position] ^ 1 << bit]) + sealed[position + 1 :]
        case ["set", position, value]:
            return sealed[:position] + bytes([value]) + sealed[position + 1 :]
        case ["cut", length]:
            return sealed[:length]
        case ["append", data]:
            return sealed + bytes.fromhex(data)
        case ["swap", one, other]:
            chunks[one], chunks[other] = chunks[other], chunks[one]
        case ["drop", one]:
            del chunks[one]
        case ["repeat", one]:
            chunks.insert(one, chunks[one])
    return sealed[:72] + b"".join(chunks)


def streams(document):
    made = {}
    for case in document["opens"]:
        key, content = bytes.fromhex(case["contentKey"]), content_by_rule(case["size"], case["seed"])
        sealed = stream(case["name"], content, case["stream"], key, bytes.fromhex(case["header"])[5])
        assert hashlib.sha256(sealed).hexdigest() == case["sealedSHA256"]
        assert reader.read_stream(sealed, case["stream"], key) == content
        made[case["name"]] = sealed, case["stream"], key
    for case in document["refused"]:
        sealed, name, key = made[case["of"]]
        key = bytes.fromhex(case["contentKey"]) if "contentKey" in case else key
        content, name = edited(sealed, case["edit"]), case.get("stream", name)
        must_refuse(case, lambda _, content=content, name=name, key=key: reader.read_stream(content, name, key))


def box(case):
    body = reader.read_box(bytes.fromhex(case["box"]), case["record"], bytes.fromhex(case["privateKey"]))
    assert body.hex() == case["body"]


def signature(case):
    if not is_signature(
        bytes.fromhex(case["signature"]),
        bytes.fromhex(case["publicKey"]),
        case["purpose"],
        bytes.fromhex(case["message"]),
    ):
        raise Refused("invalid")


def audit(case):
    assert reader.read_audit(bytes.fromhex(case["publicKey"]), case["events"]) == case["head"]


def locked_file(case):
    body, content = reader.read_locked_file(base64.b64decode(case["file"]), bytes.fromhex(case["vaultKey"]))
    assert (body, content) == (json.loads(case["body"]), case["content"].encode())


def backup(case):
    file = base64.b64decode(case["file"])
    if "passphrase" in case:
        entries = reader.read_backup(file, case["passphrase"].encode())
    else:
        entries = reader.read_backup(file, None, bytes.fromhex(case["rootKey"]))
    assert entries == [(entry["kind"], base64.b64decode(entry["content"])) for entry in case["entries"]]


def earlier(case):
    file, plaintext = base64.b64decode(case["file"]), base64.b64decode(case.get("plaintext", ""))
    if case["purpose"] == "plain":
        assert json.loads(file)["version"] == 1
    else:
        assert reader.read_earlier(file, case["passcode"].encode(), case["purpose"]) == plaintext


def recovery(case):
    for typed in case["typed"] if "secret" in case else [case["typed"]]:
        secret = reader.read_recovery(typed)
        assert secret.hex() == case["secret"] and recovery_digits(secret) == case["passcode"]


def roster(case):
    read = reader.read_roster([bytes.fromhex(entry) for entry in case["entries"]])
    assert read == (case["household"], case["head"], case["members"], case["revoked"])


def signed_record(case):
    sealed = case["sealed"] and bytes.fromhex(case["sealed"])
    message = fields(
        *record_fields(case["record"]),
        number(case["epoch"], 4),
        bytes.fromhex(case["author"]),
        bytes.fromhex("".join(case["blobs"])),
        hashlib.sha256(sealed).digest() if sealed else b"",
    )
    point = bytes.fromhex(case["publicKey"])
    if not is_signature(bytes.fromhex(case["signature"]), point, "record", message):
        raise Refused("invalid")


def invitation(case):
    read = reader.read_invitation(case["link"], bytes.fromhex(case["join"] or ""))
    assert read == {key: case[key] for key in read}


def pairing_code(case):
    read = reader.read_pairing_code(case["typed"], bytes.fromhex(case["details"]))
    assert read == {key: case[key] for key in read}


def epoch_keys(case):
    entries, vault = reader.read_epoch_keys(
        bytes.fromhex(case["sealed"]),
        case["record"],
        case["epoch"],
        case["member"],
        bytes.fromhex(case["privateKey"]),
    )
    assert (entries, vault) == (case["entries"], case["vault"])


def start_invitation(case):
    read = reader.read_start_invitation(case["text"], case["token"])
    assert read == {key: case[key] for key in read}


def moment(case):
    body = reader.read_envelope(bytes.fromhex(case["envelope"]), case["record"], bytes.fromhex(case["vaultKey"]))
    assert moment_formats.read_moment(body) == case["content"]


def special_date(case):
    body = reader.read_envelope(bytes.fromhex(case["envelope"]), case["record"], bytes.fromhex(case["vaultKey"]))
    assert moment_formats.read_date(body) == case["content"]


def photo(case):
    body = reader.read_envelope(bytes.fromhex(case["envelope"]), case["record"], bytes.fromhex(case["vaultKey"]))
    content, thumbnail = moment_formats.read_photo(body, case["blobs"])
    assert (content, thumbnail.hex()) == (case["content"], case["thumbnail"])
    for which, expected in case["streams"].items():
        size = content[which]
        key, plain = base64.b64decode(size["key"]), content_by_rule(size["size"], expected["seed"])
        sealed = stream("photo " + which, plain, case["record"], key, 20)
        assert (hashlib.sha256(sealed).hexdigest(), len(sealed)) == (expected["sealedSHA256"], expected["sealedSize"])
        assert reader.read_stream(sealed, case["record"], key) == plain


def moments(document):
    for check, part in [(moment, document["moments"]), (photo, document["photos"]), (special_date, document["dates"])]:
        for case in part["opens"]:
            check(case)
        for case in part["refused"]:
            must_refuse(case, check)
    files = {hashlib.sha256(file).hexdigest(): file for file in (b"file", b"file 2")}
    for case in document["hashes"]:
        file = files[case["fileSHA256"]]
        assert (
            moment_formats.photo_hash(bytes.fromhex(case["vaultKey"]), case["epoch"], case["vault"], file)
            == case["hash"]
        )
    return sum(
        len(part) for key in ("moments", "photos", "dates") for part in document[key].values() if isinstance(part, list)
    ) + len(document["hashes"])


def remarks(document):
    def read(case):
        assert moment_formats.read_remark(json.dumps(case["content"]).encode()) == case["content"], case["name"]

    for case in document["ids"]:
        may = moment_formats.may_write_remark(case["id"], case["vault"], case["author"], case["household"])
        assert may == case["mayWrite"], case["name"]
    for case in document["bodies"]["opens"]:
        read(case)
    for case in document["bodies"]["refused"]:
        must_refuse(case, read)
    return len(document["ids"]) + sum(len(part) for part in document["bodies"].values())


def must_refuse(case, run):
    try:
        run(case)
    except Refused as refused:
        expected = case.get("error", refused.code)
        assert refused.code == expected, f"{case['name']}: {refused.code} instead of {expected}"
    else:
        raise AssertionError(f"{case['name']}: opened")


def run():
    count = 0
    for check in [
        slots,
        ring,
        envelope,
        streams,
        box,
        signature,
        audit,
        locked_file,
        backup,
        earlier,
        recovery,
        roster,
        signed_record,
        invitation,
        start_invitation,
        pairing_code,
        epoch_keys,
    ]:
        document = json.loads((FOLDER / f"{'stream' if check is streams else check.__name__}.json").read_text())
        if check is streams:
            streams(document)
        else:
            for case in document["opens"]:
                check(case)
            for case in document["refused"]:
                must_refuse(case, check)
        count += len(document["opens"]) + len(document["refused"])
    count += moments(json.loads((FOLDER / "moments.json").read_text()))
    count += remarks(json.loads((FOLDER / "remarks.json").read_text()))
    print(f"{count} vectors hold.")
    return 0
