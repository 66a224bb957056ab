"""The companion's own modules in Chromium, without its screens: each test in JavaScript is a test here."""

import os

import pytest

import javascript
import pages

MODULES = """vectors published moment-vectors sealing image-metadata unlock drawers decoy decoy-changes distrust
    withheld revoked full moments moment-screens audit moments-speed versions restored restored-tabs""".split()


@pytest.fixture(scope="session")
def address():
    with pages.served() as address:
        yield address


@pytest.fixture(scope="session")
def module_page(browser, address):
    """One page for the tests of a module, which use databases of their own."""
    opened = {}

    def page(module):
        if module not in opened:
            opened[module] = javascript.Page(browser.new_context(), address, module)
        return opened[module]

    yield page
    for one in opened.values():
        one.context.close()


@pytest.mark.parametrize(
    "module, name",
    [
        pytest.param(module, name, marks=pytest.mark.xdist_group(module))
        for module in MODULES
        for name in javascript.names(module)
    ],
)
def test_in_chromium(module_page, module, name):
    module_page(module).run(
        name, {"seeds": [int(seed) for seed in os.environ.get("RESTORE_SEEDS", "").split(",") if seed]}
    )
