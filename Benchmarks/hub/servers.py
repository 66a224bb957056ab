"""The servers that are measured: the hub, and nginx with nchan."""

import base64
import hashlib
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from processes import children, start, stop

NCHAN = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
# The approximate size of a message's JSON; a sealed event is as large.
SEALED_BYTES = 512


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process, log):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.02)
    raise SystemExit(f"Benchmarks/hub: a server did not start: {log.read_text(errors='replace')[-1000:]}")


class Server:
    def usage(self):
        """(processor seconds, resident bytes) of the process that serves."""
        fields = Path(f"/proc/{self.serving}/stat").read_text().rsplit(")", 1)[1].split()
        resident = [
            line for line in Path(f"/proc/{self.serving}/status").read_text().splitlines() if line.startswith("VmRSS:")
        ][0].split()[1]
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(resident) * 1024

    def requests(self, count):
        """Publishing requests for fanout.c."""
        return b"\0".join(self.request() for _ in range(count)) + b"\0"

    def __exit__(self, *_):
        stop(self.process)


class Hub(Server):
    name = "the hub"

    def __init__(self, run):
        self.run = run

    def __enter__(self):
        self.place = self.run.directory / f"hub-{secrets.token_hex(4)}"
        self.place.mkdir(mode=0o700)
        self.port = free_port()
        log = self.run.directory / "hub.log"
        where = ["--state", self.place, "--listen", f"127.0.0.1:{self.port}"]
        unlimited = "--registration open --household-rate 0 --device-rate 0 --address-rate 0".split()
        unlimited += "--connections 30000 --connections-per-address 30000".split()
        with open(log, "ab") as output:
            self.process = start(
                [self.run.build / "applocker-hub", *where, *unlimited],
                ends_with=signal.SIGTERM,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.serving = self.process.pid
        wait_for(self.port, self.process, log)
        token = secrets.token_bytes(32)
        self.token = base64.urlsafe_b64encode(token).decode().rstrip("=")
        self.household, self.vault = (secrets.token_hex(16) for _ in range(2))
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.point = public_point(self.key)
        self.device = hashlib.sha256(self.point).hexdigest()[:32]
        self.found(token)
        return self

    def found(self, token):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        body = {
            "household": self.household,
            "device": self.device,
            "tokenHash": text(hashlib.sha256(token).digest()),
            "entry": text(self.entry()),
        }
        connection.request("POST", "/v1/households", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        words = answer.read()
        if answer.status // 100 != 2:
            raise SystemExit(f"Benchmarks/hub: the hub founds no household: {words!r}")

    def entry(self, admitted=None, previous=bytes(32), number=1):
        """An entry of a roster (docs/formats.md): the first, or one that admits the device with this key."""
        role, point = (b"\2", admitted) if admitted else (b"\1", self.point)
        place = number.to_bytes(8, "big") + previous + bytes(8)
        signed = b"APRO" + bytes([1, 1, 0, 0]) + place + bytes.fromhex(self.device) + role + point + point
        return signed + self.signed(b"roster", signed)

    def admission(self, admitted):
        """The second entry."""
        first = fields(b"applocker/1/roster", self.entry()[:-64])
        return self.entry(admitted, hashlib.sha256(first).digest(), 2)

    def signed(self, purpose, message):
        signature = self.key.sign(fields(b"applocker/1/signature", purpose, message), ec.ECDSA(hashes.SHA256()))
        return b"".join(number.to_bytes(32, "big") for number in utils.decode_dss_signature(signature))

    def signature(self, record, sealed):
        message = fields(
            bytes.fromhex(self.vault),
            b"notes",
            bytes.fromhex(record),
            (1).to_bytes(8, "big"),
            (1).to_bytes(4, "big"),
            bytes.fromhex(self.device),
            b"",
            hashlib.sha256(sealed).digest(),
        )
        return self.signed(b"record", message)

    def subscription(self):
        return (
            f"GET /v1/stream HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {self.token}\r\n"
            "Accept: text/event-stream\r\n\r\n"
        ).encode()

    def request(self):
        record, sealed = secrets.token_hex(16), secrets.token_bytes(SEALED_BYTES)
        body = json.dumps(
            {
                "collection": "notes",
                "id": record,
                "vault": self.vault,
                "revision": 1,
                "epoch": 1,
                "author": self.device,
                "sealed": text(sealed),
                "blobs": [],
                "signature": text(self.signature(record, sealed)),
            }
        )
        return (
            f"PUT /v1/records/notes/{record} HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {self.token}\r\n"
            f"If-None-Match: *\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


class Nchan(Server):
    name = "nginx with nchan"

    def __init__(self, run):
        self.run = run

    @staticmethod
    def missing():
        if not NCHAN.exists() or not shutil.which("nginx"):
            return f"{NCHAN} is missing; install nginx-light and libnginx-mod-nchan"
        return None

    def __enter__(self):
        place = self.run.directory / f"nchan-{secrets.token_hex(4)}"
        place.mkdir()
        self.port = free_port()
        configuration = place / "nginx.conf"
        configuration.write_text(f"""
            load_module {NCHAN};
            user root; worker_processes 1; daemon off; pid {place}/pid; error_log {place}/error.log error;
            worker_rlimit_nofile 40000;
            events {{ worker_connections 30000; }}
            http {{
                access_log off; keepalive_requests 1000000000; tcp_nodelay on; client_body_temp_path {place}/body;
                nchan_max_reserved_memory 512m;
                server {{
                    listen 127.0.0.1:{self.port} backlog=4096;
                    location /publish {{ nchan_publisher; nchan_channel_id all; nchan_message_buffer_length 4096; }}
                    location /stream {{
                        nchan_subscriber eventsource; nchan_channel_id all; nchan_subscriber_first_message newest;
                    }}
                }}
            }}""")
        log = place / "error.log"
        log.touch()
        self.process = start(
            ["nginx", "-c", configuration, "-p", place],
            ends_with=signal.SIGTERM,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self.port, self.process, log)
        self.serving = children(self.process.pid)[0]
        return self

    def subscription(self):
        return b"GET /stream HTTP/1.1\r\nHost: nchan\r\nAccept: text/event-stream\r\n\r\n"

    def request(self):
        # The response of the hub for a record, so that both servers send the same.
        body = json.dumps(
            {
                "collection": "notes",
                "id": secrets.token_hex(16),
                "vault": "0" * 32,
                "revision": 1,
                "epoch": 1,
                "author": "0" * 32,
                "sealed": text(secrets.token_bytes(SEALED_BYTES)),
                "blobs": [],
                "signature": text(secrets.token_bytes(64)),
                "sequence": 100,
            }
        )
        return (
            f"POST /publish HTTP/1.1\r\nHost: nchan\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


def public_point(key):
    return key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def fields(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def text(data):
    return base64.b64encode(data).decode()
