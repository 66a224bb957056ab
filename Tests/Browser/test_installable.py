"""Browsers offer to install the app: its manifest and its icons."""

import json
import struct

import pytest

import pages
import raw_chromium
from waiting import eventually


@pytest.fixture
def chromium():
    chromium = raw_chromium.RawChromium()
    yield chromium
    chromium.end()


def size(name):
    """The size of a PNG, from its header."""
    data = (pages.ROOT / "Web" / name).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def test_every_icon_has_its_declared_size():
    for name, prefix in (("app", ""), ("calculator", "calculator-"), ("notes", "notes-")):
        manifest = json.loads((pages.ROOT / f"Web/{name}.webmanifest").read_text())
        for icon in manifest["icons"]:
            width, height = map(int, icon["sizes"].split("x"))
            assert size(icon["src"][1:]) == (width, height)
        assert sorted({icon["purpose"] for icon in manifest["icons"]}) == ["any", "maskable", "monochrome"]
        assert size(f"icons/{prefix}apple-touch-icon-180.png") == (180, 180)
        assert size(f"icons/{prefix}favicon-32.png") == (32, 32)


def test_the_manifest_of_a_page_with_a_link_differs_only_by_the_start_address():
    app, install = (json.loads((pages.ROOT / f"Web/{name}.webmanifest").read_text()) for name in ("app", "install"))
    assert app.pop("start_url") == "/"
    assert install == app


def loaded(tab):
    """Chromium returns no result for a manifest that changes meanwhile."""

    def is_loaded():
        try:
            return tab.run("location.protocol === 'http:' && document.readyState === 'complete'")
        except raw_chromium.PageIsGone:
            # The tab's first, empty page.
            return False

    eventually(is_loaded, "the page is loaded")


@pytest.mark.parametrize("disguise", ["calculator", "notes"])
def test_the_disguise_is_a_separate_app(chromium, site, disguise):
    tab = chromium.open(f"{site.address}/?as={disguise}")
    loaded(tab)
    tab.send("Page.enable")
    eventually(
        lambda: tab.send("Page.getAppManifest")["url"].endswith(f"/{disguise}.webmanifest"), "the disguise's manifest"
    )
    manifest = tab.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert tab.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
    # As an app next to AppLocker, not instead of it.
    assert tab.send("Page.getAppId")["appId"] == f"{site.address}/?as={disguise}"
    assert "locker" not in manifest["data"].lower()


def test_chromium_accepts_the_manifest(chromium, site):
    tab = chromium.open(site.address)
    loaded(tab)
    tab.send("Page.enable")
    assert tab.send("Page.getAppManifest")["errors"] == []
    assert tab.send("Page.getInstallabilityErrors")["installabilityErrors"] == []
    # Chromium reports a defect, so it does check the manifest.
    site.changed["app.webmanifest"] = b'{"name": "x"}'
    tab.send("Page.reload", ignoreCache=True)
    eventually(
        lambda: tab.send("Page.getInstallabilityErrors")["installabilityErrors"], "an empty manifest can't be installed"
    )
