"""The companion's own modules in Chromium, without its screens: each test in JavaScript is a test here."""

import contextlib
import os
import re

import pytest

import javascript
import pages
from long_form import IS_LONG

MODULES = """vectors published-vectors moment-vectors remark-vectors sealing image-metadata unlock drawers decoy
    decoy-changes untrusted-hub withheld alert-days revoked full-storage moments moment-conflicts moment-restore
    moment-screens audit moments-speed versions restored restored-tabs ingested-keys recovery-sheet founding""".split()


# They run where they are needed together: test_scenario.py.
ELSEWHERE = ["scenario"]


@pytest.fixture(scope="session")
def address():
    with pages.served() as address:
        yield address


@pytest.fixture(scope="session")
def pages_by_module(browser, address):
    @contextlib.contextmanager
    def page(module):
        with contextlib.closing(browser.new_context()) as context:
            yield javascript.Page(context, address, module)

    with contextlib.closing(javascript.SharedByModule(page)) as shared:
        yield shared


@pytest.mark.parametrize(
    "module, name",
    [
        pytest.param(module, name, marks=pytest.mark.xdist_group(module))
        for module in MODULES
        for name in javascript.names(module)
    ],
)
def test_in_chromium(pages_by_module, module, name):
    """The tests of a module share a page and use databases of their own."""
    with pages_by_module.use(module, name) as page:
        seeds = [int(seed) for seed in os.environ.get("RESTORE_SEEDS", "").split(",") if seed]
        page.run(name, {"seeds": seeds, "isLong": IS_LONG})


def test_every_module_runs(page, address):
    """In Chromium or in node, with each of its tests."""
    in_node = re.search(r"of \[([^\]]*)\]\)", (javascript.FOLDER / "node.test.mjs").read_text())[1]
    listed = {*MODULES, *ELSEWHERE, *re.findall(r'"(.+?)"', in_node)}
    assert listed == {path.name.removesuffix(".test.js") for path in javascript.FOLDER.glob("*.test.js")}
    page.goto(address + "/tests.html")
    exported = "async (module) => Object.keys((await import(`/tests/${module}.test.js`)).tests)"
    for module in [*MODULES, *ELSEWHERE]:
        assert javascript.names(module) == page.evaluate(exported, module), module
