"""Browsers offer to install the app: its manifest, its icons."""

import json
import struct
import time
import traceback

import pages
import raw_chromium


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r}")


def size(name):
    """Of a PNG, from its header."""
    data = (pages.ROOT / "Web" / name).read_bytes()
    equal(data[:8], b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


def everyIconHasTheSizeThatIsSaid():
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
    end = time.monotonic() + 15
    while not tab.run("location.protocol === 'http:' && document.readyState === 'complete'"):
        if time.monotonic() > end:
            raise AssertionError("the page does not load")
        time.sleep(0.05)


def theDisguiseIsAnAppOfItsOwn():
    chromium = raw_chromium.RawChromium()
    site = pages.Site()
    try:
        tab = chromium.open(f"{site.address}/?as=calculator")
        loaded(tab)
        tab.send("Page.enable")
        end = time.monotonic() + 15
        while not (manifest := tab.send("Page.getAppManifest"))["url"].endswith("/calculator.webmanifest"):
            if time.monotonic() > end:
                raise AssertionError(manifest)
            time.sleep(0.05)
        equal(manifest["errors"], [])
        equal(tab.send("Page.getInstallabilityErrors")["installabilityErrors"], [])
        # Beside AppLocker, not in its place.
        equal(tab.send("Page.getAppId")["appId"], f"{site.address}/?as=calculator")
        equal("locker" in manifest["data"].lower(), False)
    finally:
        site.stop()
        chromium.end()


def chromiumHasNothingAgainstIt():
    chromium = raw_chromium.RawChromium()
    site = pages.Site()
    try:
        tab = chromium.open(site.address)
        loaded(tab)
        end = time.monotonic() + 15
        tab.send("Page.enable")
        equal(tab.send("Page.getAppManifest")["errors"], [])
        equal(tab.send("Page.getInstallabilityErrors")["installabilityErrors"], [])
        # And what it is like with something wrong: the question is answered, not passed over.
        site.changed["app.webmanifest"] = b'{"name": "x"}'
        tab.send("Page.reload", ignoreCache=True)
        while not tab.send("Page.getInstallabilityErrors")["installabilityErrors"]:
            if time.monotonic() > end:
                raise AssertionError("an empty manifest can be installed")
            time.sleep(0.05)
    finally:
        site.stop()
        chromium.end()


def run(_):
    results = []
    for test in [everyIconHasTheSizeThatIsSaid, theDisguiseIsAnAppOfItsOwn, chromiumHasNothingAgainstIt]:
        start, failure = time.monotonic(), None
        try:
            test()
        except Exception:
            failure = traceback.format_exc()
        results.append({"name": test.__name__, "failure": failure, "milliseconds": round((time.monotonic() - start) * 1000)})
    return results
