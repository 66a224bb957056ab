"""Browsers offer to install the app: its manifest, its icons."""

import json
import struct

import pytest

import pages
import raw_chromium
from waiting import eventually


def equal(found, wanted):
    assert found == wanted


@pytest.fixture
def chromium():
    chromium = raw_chromium.RawChromium()
    yield chromium
    chromium.end()


@pytest.fixture
def site():
    site = pages.Site()
    yield site
    site.stop()


def size(name):
    """Of a PNG, from its header."""
    data = (pages.ROOT / "Web" / name).read_bytes()
    equal(data[:8], b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


def test_every_icon_has_the_size_that_is_said():
    for name, prefix in (("app", ""), ("calculator", "calculator-")):
        manifest = json.loads((pages.ROOT / f"Web/{name}.webmanifest").read_text())
        for icon in manifest["icons"]:
            width, height = map(int, icon["sizes"].split("x"))
            equal(size(icon["src"][1:]), (width, height))
        equal(sorted({icon["purpose"] for icon in manifest["icons"]}), ["any", "maskable", "monochrome"])
        equal(size(f"icons/{prefix}apple-touch-icon-180.png"), (180, 180))
        equal(size(f"icons/{prefix}favicon-32.png"), (32, 32))


def loaded(tab):
    """Asked about a manifest that changes meanwhile, Chromium does not answer."""
    eventually(lambda: tab.run("location.protocol === 'http:' && document.readyState === 'complete'"), "the page is loaded")


def test_the_disguise_is_an_app_of_its_own(chromium, site):
    tab = chromium.open(f"{site.address}/?as=calculator")
    loaded(tab)
    tab.send("Page.enable")
    eventually(lambda: tab.send("Page.getAppManifest")["url"].endswith("/calculator.webmanifest"), "the calculator's manifest")
    manifest = tab.send("Page.getAppManifest")
    equal(manifest["errors"], [])
    equal(tab.send("Page.getInstallabilityErrors")["installabilityErrors"], [])
    # Beside AppLocker, not in its place.
    equal(tab.send("Page.getAppId")["appId"], f"{site.address}/?as=calculator")
    equal("locker" in manifest["data"].lower(), False)


def test_chromium_has_nothing_against_it(chromium, site):
    tab = chromium.open(site.address)
    loaded(tab)
    tab.send("Page.enable")
    equal(tab.send("Page.getAppManifest")["errors"], [])
    equal(tab.send("Page.getInstallabilityErrors")["installabilityErrors"], [])
    # And what it is like with something wrong: the question is answered, not passed over.
    site.changed["app.webmanifest"] = b'{"name": "x"}'
    tab.send("Page.reload", ignoreCache=True)
    eventually(lambda: tab.send("Page.getInstallabilityErrors")["installabilityErrors"], "an empty manifest can't be installed")
