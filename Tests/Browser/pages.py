"""Serves the companion's files, these tests and the vectors from 127.0.0.1, under the policy that the hub serves them with."""

import contextlib
import functools
import http.server
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = b"<!doctype html><html lang=en><title>Tests</title></html>"
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".js": "text/javascript", ".json": "application/json"}

    def translate_path(self, path):
        parts = path.split("?")[0].strip("/").split("/")
        if ".." in parts:
            return "/nowhere"
        folder = {"tests": "Tests/Browser", "Vectors": "Vectors"}.get(parts[0])
        return str(ROOT / folder / "/".join(parts[1:]) if folder else ROOT / "Web" / "/".join(parts))

    def do_GET(self):
        if self.path != "/tests.html":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
