"""Runs the tests of Tests/JavaScript/*.test.js in a page."""

import base64
import contextlib
import json
import pathlib
import re
import subprocess
import tempfile

import pages
from authenticator import virtual_authenticator
from storage import STRETCH_LITTLE

FOLDER = pages.ROOT / "Tests/JavaScript"
# Modules, and a test of one, that test the derivation of keys from PINs, the sealed formats or the whole companion.
REAL_COST = {"vectors", "published-vectors", "sealing", "unlock", "scenario", "decoy.bothPINsCauseTheSameWork"}


def has_real_cost(module, name):
    """Whether the test stretches a PIN with every round; others do with one."""
    return not REAL_COST.isdisjoint([module, f"{module}.{name}"])


def names(module):
    """Returns the names of the module's tests in order."""
    text = (FOLDER / f"{module}.test.js").read_text()
    block = text[text.index("export const tests = {") :]
    return re.findall(r"^    (?:async )?(\w+)(?:\(|: )", block, re.M)


class SharedByModule:
    """Something that the tests of a module share, for instance a page: `create` makes it as a context manager for the
    first test, and the last one closes it. Left open, its companions would use the processor during all later tests.
    `together`: modules without companions, in the order of their tests, which share one."""

    def __init__(self, create, together=()):
        self.create, self.together, self.open = create, together, {}

    @contextlib.contextmanager
    def use(self, module, name):
        first, last = (self.together[0], self.together[-1]) if module in self.together else (module, module)
        if first not in self.open:
            stack = contextlib.ExitStack()
            self.open[first] = stack, stack.enter_context(self.create(first))
        yield self.open[first][1]
        if module == last and name == names(last)[-1]:
            self.open.pop(first)[0].close()

    def close(self):
        """Closes what remains open if only some of a module's tests ran."""
        for stack, _ in self.open.values():
            stack.close()


def independent_reader(things):
    """Returns what Vectors/reader.py reads of what the page sealed. It needs the system's Python, which has
    `cryptography`."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = []
        for index, thing in enumerate(things):
            file = f"{index}.sealed"
            (pathlib.Path(folder) / file).write_bytes(base64.b64decode(thing["sealed"]))
            manifest.append({**thing["entry"], "file": file})
        (pathlib.Path(folder) / "manifest.json").write_text(json.dumps(manifest))
        read = subprocess.run(
            ["/usr/bin/python3", "-B", str(pages.ROOT / "Vectors/reader.py"), folder], capture_output=True, text=True
        )
    return json.loads(read.stdout) if read.stdout else read.stderr


class Page:
    """A page without the app that runs the tests of one module."""

    def __init__(self, context, address, module):
        self.module, self.context, self.noise = module, context, []
        self.page = context.new_page()
        self.page.on("pageerror", lambda error: self.noise.append(f"page error: {error}"))
        self.page.on(
            "console", lambda message: self.noise.append(message.text) if "Content Security" in message.text else None
        )
        self.page.on("console", lambda message: print(message.text) if message.type == "log" else None)
        session = context.new_cdp_session(self.page)
        authenticators = []

        def quota(count):
            """Limits the storage of this page, in bytes; None removes the limit."""
            size = {} if count is None else {"quotaSize": count}
            session.send("Storage.overrideQuotaForOrigin", {"origin": address, **size})

        def authenticator(options):
            """Replaces the authenticators with a new one; None removes them."""
            session.send("WebAuthn.disable")
            session.send("WebAuthn.enable")
            if options is not None:
                authenticators.append(virtual_authenticator(session, **options))

        def verified(is_verified):
            """Sets whether the newest authenticator verifies the user."""
            session.send(
                "WebAuthn.setUserVerified", {"authenticatorId": authenticators[-1], "isUserVerified": is_verified}
            )

        for name, function in (
            ("reader", independent_reader),
            ("quota", quota),
            ("authenticator", authenticator),
            ("verified", verified),
        ):
            self.page.expose_function(name, function)
        self.page.add_init_script(f"({STRETCH_LITTLE})();")
        self.page.goto(address + "/tests.html")

    def run(self, name, arg=None):
        """Also fails if the page reports an error or its content security policy blocks something."""
        failure = self.page.evaluate(
            """async ([module, name, arg, hasRealCost]) => {
                window.hasRealCost = hasRealCost;
                return (await import("/tests/harness.js")).run(module, name, arg);
            }""",
            [self.module, name, arg or {}, has_real_cost(self.module, name)],
        )
        noise, self.noise = self.noise, []
        assert failure is None, failure
        assert not noise, "\n".join(noise)
