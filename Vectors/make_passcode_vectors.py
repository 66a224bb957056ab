#!/usr/bin/env python3
"""Writes passcode_verifiers.json in this directory: stored passcodes of every kind, created with Python's hashlib and
hmac only, so that an independent implementation defines the format. Every run writes the same bytes."""

import hashlib
import hmac
import json
import pathlib

MAGIC = "applocker-passcode:1"


def fixed(label, count):
    """Bytes that look random and are the same in every run."""
    return hashlib.shake_256(b"applocker vectors " + label.encode()).digest(count)


def hkdf_sha256(material, salt, info):
    """RFC 5869 with one block of output."""
    extracted = hmac.new(salt or bytes(32), material, "sha256").digest()
    return hmac.new(extracted, info + b"\x01", "sha256").digest()


def scrypt(passcode, salt, logarithm, secret):
    secrets = "machine" if secret else "passcode"
    header = f"{MAGIC}:scrypt:ln={logarithm},r=8,p=1:{secrets}:{salt.hex()}:"
    rounds = 1 << logarithm
    derived = hashlib.scrypt(passcode, salt=salt, n=rounds, r=8, p=1, dklen=32, maxmem=1024 * rounds + (1 << 20))
    return header + hkdf_sha256(derived, secret, header.encode()).hex()


def pbkdf2(passcode, salt):
    derived = hashlib.pbkdf2_hmac("sha256", passcode, salt, 200_000, 32)
    return f"{MAGIC}:pbkdf2-sha256:rounds=200000:passcode:{salt.hex()}:{derived.hex()}"


def sha256(passcode, salt):
    return f"{MAGIC}:sha256:-:passcode:{salt.hex()}:{hashlib.sha256(passcode + salt).hexdigest()}"


def accepted():
    secret = fixed("machine secret", 32)
    cases = [
        ("scrypt with the machine secret", "7294", 17, secret),
        ("scrypt without a machine secret", "correct horse battery staple", 17, None),
        ("scrypt with N = 2^18", "Grüße 🔑", 18, secret),
    ]
    for name, passcode, logarithm, used in cases:
        text = scrypt(passcode.encode(), fixed(name, 32), logarithm, used)
        yield {
            "name": name,
            "passcode": passcode,
            "machineSecret": used.hex() if used else None,
            "text": text,
            "needsUpgrade": False,
        }
    for passcode in ["1234", "Grüße 🔑"]:
        for name, make, length in [("pbkdf2", pbkdf2, 32), ("sha256", sha256, 32), ("sha256", sha256, 16)]:
            text = make(passcode.encode(), fixed(f"{name} {passcode} {length}", length))
            yield {
                "name": f"older {name}, salt of {length} bytes",
                "passcode": passcode,
                "machineSecret": None,
                "text": text,
                "needsUpgrade": True,
            }


def refused():
    salt, tag = fixed("salt", 32).hex(), fixed("tag", 32).hex()
    good = f"scrypt:ln=17,r=8,p=1:machine:{salt}:{tag}"
    cases = {
        "malformed": [
            "",
            "applocker-passcode",
            "applocker-passcode:1",
            f"other:1:{good}",
            f" {MAGIC}:{good}",
            f"{MAGIC}:{good}\n",
            f"{MAGIC}:{good}:",
            f"{MAGIC}:{good}" + "0" * 512,
            f"{MAGIC}:{good[:-1]}",
            f"{MAGIC}:{good[:-2]}",
            f"{MAGIC}:scrypt:ln=17,r=8,p=1:machine:{salt.upper()}:{tag}",
            f"{MAGIC}:scrypt:ln=17,r=8,p=1:machine:{salt[:-2]}:{tag}",
            f"{MAGIC}:scrypt:ln=17,r=8,p=1:machine::{tag}",
            f"{MAGIC}:scrypt:ln=17,r=8,p=1:machine:{salt}:",
            f"{MAGIC}:scrypt:ln=17,r=8,p=1:nothing:{salt}:{tag}",
            f"{MAGIC}:scrypt:ln=17,r=8,p=1:{salt}:{tag}",
            f"{MAGIC}:sha256:-:machine:{salt}:{tag}",
            f"{MAGIC}:pbkdf2-sha256:rounds=200000:machine:{salt}:{tag}",
            f"{MAGIC}:sha256:-:passcode:{salt[:14]}:{tag}",
            f"{MAGIC}:sha256:-:passcode:{salt + salt + '00'}:{tag}",
            f"{MAGIC}:pbkdf2-sha256:rounds=200000:passcode:{salt[:32]}:{tag}",
        ],
        "unknownVersion": [
            f"applocker-passcode:2:{good}",
            "applocker-passcode:2",
            f"applocker-passcode:01:{good}",
            f"applocker-passcode::{good}",
            "applocker-passcode:\u001b[2J:x",
        ],
        "unknownAlgorithm": [
            f"{MAGIC}:argon2id:m=1,t=1,p=1:machine:{salt}:{tag}",
            f"{MAGIC}:SHA256:-:passcode:{salt}:{tag}",
            f"{MAGIC}::-:passcode:{salt}:{tag}",
        ],
        "parametersOutOfRange": [
            f"{MAGIC}:{algorithm}:{parameters}:passcode:{salt}:{tag}"
            for algorithm, parameters in [
                ("scrypt", "ln=16,r=8,p=1"),
                ("scrypt", "ln=21,r=8,p=1"),
                ("scrypt", "ln=63,r=8,p=1"),
                ("scrypt", "ln=-1,r=8,p=1"),
                ("scrypt", "ln=017,r=8,p=1"),
                ("scrypt", "ln=17,r=9,p=1"),
                ("scrypt", "ln=17,r=8,p=1073741823"),
                ("scrypt", "ln=17,r=8"),
                ("scrypt", "r=8,ln=17,p=1"),
                ("scrypt", ""),
                ("scrypt", "ln=99999999999999999999,r=8,p=1"),
                ("pbkdf2-sha256", "rounds=1"),
                ("pbkdf2-sha256", "rounds=4294967295"),
                ("pbkdf2-sha256", "rounds=0200000"),
                ("sha256", ""),
            ]
        ],
    }
    for code, texts in cases.items():
        for text in texts:
            yield {"text": text, "code": code}


vectors = {"accepted": list(accepted()), "refused": list(refused())}
path = pathlib.Path(__file__).with_name("passcode_verifiers.json")
path.write_text(json.dumps(vectors, indent=2, ensure_ascii=True) + "\n")
