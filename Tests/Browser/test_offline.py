"""The app's files on the device: without a network, with damaged ones, with another version, in two tabs."""

import pathlib

import pytest

import pages
from waiting import eventually

PROBE = (pathlib.Path(pages.__file__).parent / "probe.js").read_bytes()


def page_of(word):
    return (f'<!doctype html><html lang="en"><title>{word}</title><h1>{word}</h1>'
            '<script type="module" src="/probe.js"></script></html>').encode()


class Device:
    """A browser with a profile of its own, and a hub's files beside it."""

    def __init__(self, new_context, word="one"):
        self.site = pages.Site()
        # As they are now, whoever writes them meanwhile.
        self.site.changed.update({name: path.read_bytes() for name, path in pages.shell_files()})
        self.site.changed.update({"index.html": page_of(word), "probe.js": PROBE})
        self.context = new_context()
        self.noise = []
        self.page = self.open()

    def open(self, path="/"):
        page = self.context.new_page()
        page.on("console", lambda message: self.noise.append(message.text) if "Content Security" in message.text else None)
        page.on("pageerror", lambda error: self.noise.append(str(error)))
        page.goto(self.site.address + path)
        page.wait_for_function("() => window.started")
        return page

    def ready(self, page=None):
        page = page or self.page
        page.evaluate("() => window.started")
        self.until(page, "() => app.offline.state === 'ready' && navigator.serviceWorker.controller !== null")

    @staticmethod
    def until(page, condition):
        eventually(lambda: page.evaluate(condition), f"{condition}; {page.evaluate('() => [app.offline, window.said]')}")

    def caches(self):
        return self.page.evaluate("async () => (await caches.keys()).sort()")

    @property
    def version(self):
        return pages.asset_list(self.site.changed)["version"]

    def end(self):
        self.site.stop()
        assert self.noise == []


def equal(found, wanted):
    assert found == wanted


@pytest.fixture
def installed(new_context):
    device = Device(new_context)
    yield device
    device.end()


def test_it_opens_without_a_network(installed):
    device = installed
    device.ready()
    equal(device.caches(), ["applocker/" + device.version])
    equal(device.page.evaluate("() => app.appVersion()"), {"version": "0.0.1", "hash": device.version})
    device.site.stop()
    device.page.reload()
    equal(device.page.inner_text("h1"), "one")
    equal(device.page.evaluate("async () => (await import('/core/companion.js')).Companion.name"), "Companion")
    equal(device.page.evaluate("async () => (await app.startOffline()).state"), "ready")
    equal(device.page.evaluate("() => app.appVersion()"), {"version": "0.0.1", "hash": device.version})
    # Any address of the app is the app, under the hub's policy.
    policy = device.page.goto(device.site.address + "/notes").headers.get("content-security-policy")
    equal((device.page.inner_text("h1"), policy), ("one", pages.POLICY))
    equal(device.page.evaluate("() => fetch('/v1/hub').then(() => 'answered', () => 'no network')"), "no network")


def test_the_hubs_answers_are_never_kept(installed):
    device = installed
    device.ready()
    device.site.changed["v1/hub"] = b"1"
    equal(device.page.evaluate("() => fetch('/v1/hub').then((answer) => answer.text())"), "1")
    device.site.changed["v1/hub"] = b"2"
    equal(device.page.evaluate("() => fetch('/v1/hub').then((answer) => answer.text())"), "2")
    kept = device.page.evaluate("""async () => (await Promise.all((await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).flat()""")
    equal([name for name in kept if name.startswith("/v1")], [])
    equal(sorted(name[1:] for name in kept), sorted([*pages.asset_list(device.site.changed)["files"], "assets.json"]))


def test_a_damaged_first_copy_is_not_kept(installed):
    device = installed
    device.ready()
    device.site.tampered["core/companion.js"] = b"export const companion = 'another';"
    other = device.context.browser.new_context()
    page = other.new_page()
    page.goto(device.site.address)
    page.wait_for_function("() => window.started")
    Device.until(page, "() => app.offline.state === 'failed'")
    equal("damaged" in page.evaluate("() => app.offline.problem"), True)
    equal(page.evaluate("() => caches.keys()"), [])
    other.close()


def test_a_damaged_update_is_refused(installed):
    device = installed
    device.ready()
    first = device.version
    device.site.changed["index.html"] = page_of("two")
    device.site.tampered["index.html"] = page_of("three")
    equal(device.page.evaluate("() => app.checkForUpdate()"), True)
    Device.until(device.page, "() => window.said.length > 0")
    equal(device.page.evaluate("() => window.said[0][0]"), "failed")
    equal(device.caches(), ["applocker/" + first])
    equal(device.page.evaluate("() => app.offline.state"), "ready")
    device.page.reload()
    equal(device.page.inner_text("h1"), "one")
    # Once it comes whole, it is taken as any other.
    device.site.tampered.clear()
    device.page.evaluate("() => app.checkForUpdate()")
    Device.until(device.page, "() => app.offline.update !== null")


def test_an_update_is_asked_for_in_every_tab(installed):
    device = installed
    device.ready()
    first = device.version
    other = device.open("/#/alerts")
    device.ready(other)
    device.site.changed["index.html"] = page_of("two")
    second = device.version
    equal(device.page.evaluate("() => app.checkForUpdate()"), True)
    for page in (device.page, other):
        Device.until(page, f"() => app.offline.update === '{second}'")
        equal(page.evaluate("() => window.said"), [["ready", second]])
    # Nobody said yes: everything stays, and of one version, also after the page is loaded again.
    device.page.reload()
    equal((device.page.inner_text("h1"), other.inner_text("h1")), ("one", "one"))
    Device.until(device.page, f"() => app.offline.update === '{second}'")
    equal(device.page.evaluate("() => app.appVersion()")["hash"], first)
    other.evaluate("() => app.updates.addEventListener('reload', () => sessionStorage.setItem('was', 'asked'))")
    equal(device.page.evaluate("() => app.applyUpdate()"), True)
    for page in (device.page, other):
        page.wait_for_function("() => document.title === 'two' && window.app && app.offline.state === 'ready'")
        equal(page.evaluate("() => app.appVersion()")["hash"], second)
        equal(page.evaluate("() => app.applyUpdate()"), False)
    equal(other.evaluate("() => [sessionStorage.getItem('was'), location.hash]"), ["asked", "#/alerts"])
    equal(device.caches(), ["applocker/" + second])


def test_what_the_browser_threw_away_is_fetched_again(installed):
    device = installed
    device.ready()
    name = "applocker/" + device.version
    device.page.evaluate("(name) => caches.delete(name)", name)
    device.page.reload()
    equal(device.page.inner_text("h1"), "one")
    Device.until(device.page, "async () => (await caches.match('/assets.json')) !== undefined")
    equal(device.caches(), [name])
    device.page.evaluate("(name) => caches.delete(name)", name)
    device.site.stop()
    response = device.page.goto(device.site.address)
    equal(response.status, 503)
    equal("is not on this device any more" in device.page.inner_text("body"), True)
    device.site.start()
    device.page.reload()
    equal(device.page.inner_text("h1"), "one")


def test_a_repair_that_fails_leaves_what_was_not_thrown_away(installed):
    device = installed
    device.ready()
    name = "applocker/" + device.version
    count = "async (name) => (await (await caches.open(name)).keys()).length"
    before = device.page.evaluate(count, name)
    device.page.evaluate("async (name) => (await caches.open(name)).delete('/probe.js')", name)
    # The hub has another version by now.
    device.site.changed["index.html"] = page_of("two")
    equal(device.page.evaluate("async () => (await fetch('/probe.js')).status"), 200)
    device.site.stop()
    equal(device.page.evaluate("async () => (await fetch('/probe.js')).status"), 503)
    device.page.goto(device.site.address)
    equal(device.page.inner_text("h1"), "one")
    equal(device.page.evaluate(count, name), before - 1)
    device.site.start()
