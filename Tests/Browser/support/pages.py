"""Serves the companion's files, these tests and the vectors from 127.0.0.1, with the hub's content security policy."""

import contextlib
import hashlib
import http.server
import json
import pathlib
import re
import threading

from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
RELEASE = re.search(r'version = "(.*)"', (ROOT / "Sources/Shared/HubAPI/Release.swift").read_text())[1]
PAGE = b"<!doctype html><html lang=en><title>Tests</title></html>"
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types applocker"
)


def shell_files():
    """The files of the companion that the hub serves, as in Sources/Hub/HubServer/WebFiles.swift."""
    for path in sorted((ROOT / "Web").rglob("*")):
        name = str(path.relative_to(ROOT / "Web"))
        if path.is_file() and path.name not in ("README.md", "tsconfig.json") and not path.name.endswith(".d.ts"):
            yield name, path


def asset_list(changed):
    """What the hub serves as /assets.json. `changed`: contents by name that replace those of files."""
    contents = {name: path.read_bytes() for name, path in shell_files() if name not in changed}
    contents |= {name: content for name, content in changed.items() if not name.startswith("v1/")}
    files = {name: hashlib.sha256(contents[name]).hexdigest() for name in sorted(contents)}
    version = hashlib.sha256("".join(f"{hash}  {name}\n" for name, hash in files.items()).encode()).hexdigest()
    return {"release": RELEASE, "version": version, "files": files}


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {
        ".js": "text/javascript",
        ".json": "application/json",
        ".html": "text/html; charset=utf-8",
        ".css": "text/css",
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".webmanifest": "application/manifest+json",
    }
    changed = {}
    # Served with other contents than /assets.json lists.
    tampered = {}

    def content(self, name):
        """The contents of a name that is not served from a file, or None."""
        if name == "tests.html":
            return PAGE
        if name == "assets.json":
            return json.dumps(asset_list(self.changed)).encode()
        return self.tampered.get(name, self.changed.get(name))

    def translate_path(self, path):
        parts = path.split("?")[0].strip("/").split("/")
        if ".." in parts:
            return "/nowhere"
        folder = {"tests": "Tests/JavaScript", "Vectors": "Vectors"}.get(parts[0])
        return str(ROOT / folder / "/".join(parts[1:]) if folder else ROOT / "Web" / "/".join(parts))

    def do_GET(self):
        name = self.path.split("?")[0].strip("/") or "index.html"
        content = self.content(name)
        if content is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", self.extensions_map.get(pathlib.Path(name).suffix, "text/plain"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_):
        pass


class Site:
    """Serves until it is stopped; a restart uses the same port. `changed` and `tampered` as in Handler."""

    def __init__(self):
        self.changed, self.tampered, self.port, self.server = {}, {}, free_port(), None
        self.start()

    def start(self):
        attributes = {"changed": self.changed, "tampered": self.tampered}
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", self.port), type("SiteHandler", (Handler,), attributes)
        )
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def address(self):
        # WebAuthn requires a host name instead of an IP address.
        return f"http://localhost:{self.port}"

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None


@contextlib.contextmanager
def served():
    site = Site()
    try:
        yield site.address
    finally:
        site.stop()
