"""A push service in this process: what a hub sends to it, decrypted as a browser would (RFC 8030, RFC 8291)."""

import base64
import contextlib
import http.server
import os
import threading

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

# Chromium has no push service here: `subscribe` returns the subscription that `describe` made.
STUB = """(subscription) => {
    const made = {
        endpoint: subscription.endpoint, options: { applicationServerKey: null },
        toJSON: () => subscription,
        unsubscribe: async () => (current = null, true),
    };
    let current = null;
    PushManager.prototype.getSubscription = async () => current;
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
        made.options.applicationServerKey = applicationServerKey.buffer ?? applicationServerKey;
        return (current = made);
    };
}"""


def text(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class PushService:
    """`messages` are the decrypted ones, in the order of their arrival."""

    def __init__(self):
        self.messages = []
        self.key, self.secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                content = self.rfile.read(int(self.headers["Content-Length"]))
                # The padding of spaces is the hub's.
                service.messages.append(
                    http_ece.decrypt(content, private_key=service.key, auth_secret=service.secret).decode().strip()
                )
                self.send_response(201)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def describe(self):
        """The subscription as a browser has it."""
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {
            "endpoint": f"http://127.0.0.1:{self.server.server_port}/phone",
            "keys": {"p256dh": text(point), "auth": text(self.secret)},
        }

    def end(self):
        self.server.shutdown()
        self.server.server_close()


@contextlib.contextmanager
def push_service():
    service = PushService()
    yield service
    service.end()
