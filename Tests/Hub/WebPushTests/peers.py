"""Independent implementations of Web Push: http_ece and pywebpush seal and open messages, py_vapid checks and creates
tokens.

Reads one JSON object from standard input and writes one to standard output; bytes are base64url without padding."""

import base64
import json
import sys

import http_ece
from cryptography.hazmat.backends import default_backend
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from pywebpush import WebPusher


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def main():
    task = json.load(sys.stdin)
    answer = {}
    if "sealed" in task:
        key = ec.derive_private_key(int.from_bytes(decode(task["private"]), "big"), ec.SECP256R1(), default_backend())
        answer["opened"] = [
            encode(
                http_ece.decrypt(decode(body), private_key=key, auth_secret=decode(task["auth"]), version="aes128gcm")
            )
            for body in task["sealed"]
        ]
    if "messages" in task:
        answer["httpECE"] = [
            encode(
                http_ece.encrypt(
                    decode(message),
                    private_key=ec.generate_private_key(ec.SECP256R1(), default_backend()),
                    dh=decode(task["p256dh"]),
                    auth_secret=decode(task["auth"]),
                    version="aes128gcm",
                )
            )
            for message in task["messages"]
        ]
        subscription = {
            "endpoint": "https://push.example.com/1",
            "keys": {"p256dh": task["p256dh"], "auth": task["auth"]},
        }
        answer["pywebpush"] = [
            encode(WebPusher(subscription).encode(decode(message), content_encoding="aes128gcm")["body"])
            for message in task["messages"]
        ]
    if "authorization" in task:
        answer["valid"] = bool(Vapid02.verify(task["authorization"]))
        altered = task["authorization"].replace("vapid t=ey", "vapid t=fy", 1)
        try:
            answer["altered"] = bool(Vapid02.verify(altered))
        except Exception:
            answer["altered"] = False
    json.dump(answer, sys.stdout)


main()
