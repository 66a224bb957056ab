"""The cached files of the app: without a network, with damaged files, with another version, in two tabs."""

import pathlib

import pytest

import pages
from waiting import eventually

PROBE = (pathlib.Path(pages.__file__).parent / "probe.js").read_bytes()


def page_of(word):
    return (
        f'<!doctype html><html lang="en"><title>{word}</title><h1>{word}</h1>'
        '<script type="module" src="/probe.js"></script></html>'
    ).encode()


class Device:
    """A browser with a profile of its own, and a server with a hub's files."""

    def __init__(self, new_context, word="one"):
        self.site = pages.Site()
        # Copies, so that changes of the files don't affect a test.
        self.site.changed.update({name: path.read_bytes() for name, path in pages.shell_files()})
        self.site.changed.update({"index.html": page_of(word), "probe.js": PROBE})
        self.context = new_context()
        self.noise = []
        self.page = self.open()

    def open(self, path="/"):
        page = self.context.new_page()
        page.on(
            "console", lambda message: self.noise.append(message.text) if "Content Security" in message.text else None
        )
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
        state = "() => [app.offline, window.messages]"
        eventually(lambda: page.evaluate(condition), lambda: f"{condition}; {page.evaluate(state)}")

    def caches(self):
        return self.page.evaluate("async () => (await caches.keys()).sort()")

    @property
    def version(self):
        return pages.asset_list(self.site.changed)["version"]

    def end(self):
        self.site.stop()
        assert self.noise == []


@pytest.fixture
def installed(new_context):
    device = Device(new_context)
    yield device
    device.end()


def test_the_cached_app_opens_without_a_network(installed):
    device = installed
    device.ready()
    assert device.caches() == ["applocker/" + device.version]
    assert device.page.evaluate("() => app.appVersion()") == {"version": pages.RELEASE, "hash": device.version}
    device.site.stop()
    device.page.reload()
    assert device.page.inner_text("h1") == "one"
    assert device.page.evaluate("async () => (await import('/session/companion.js')).Companion.name") == "Companion"
    assert device.page.evaluate("async () => (await app.startOffline()).state") == "ready"
    assert device.page.evaluate("() => app.appVersion()") == {"version": pages.RELEASE, "hash": device.version}
    # Each address of the app returns the app, with the hub's content security policy.
    policy = device.page.goto(device.site.address + "/notes").headers.get("content-security-policy")
    assert (device.page.inner_text("h1"), policy) == ("one", pages.POLICY)
    assert device.page.evaluate("() => fetch('/v1/hub').then(() => 'answered', () => 'no network')") == "no network"


def test_hub_responses_are_never_cached(installed):
    device = installed
    device.ready()
    device.site.changed["v1/hub"] = b"1"
    assert device.page.evaluate("() => fetch('/v1/hub').then((response) => response.text())") == "1"
    device.site.changed["v1/hub"] = b"2"
    assert device.page.evaluate("() => fetch('/v1/hub').then((response) => response.text())") == "2"
    kept = device.page.evaluate("""async () => (await Promise.all((await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).flat()""")
    assert [name for name in kept if name.startswith("/v1")] == []
    assert sorted(name[1:] for name in kept) == sorted([*pages.asset_list(device.site.changed)["files"], "assets.json"])


def test_a_damaged_first_download_is_not_cached(installed):
    device = installed
    device.ready()
    device.site.tampered["session/companion.js"] = b"export const companion = 'another';"
    other = device.context.browser.new_context()
    page = other.new_page()
    page.goto(device.site.address)
    page.wait_for_function("() => window.started")
    Device.until(page, "() => app.offline.state === 'failed'")
    assert "damaged" in page.evaluate("() => app.offline.problem")
    assert page.evaluate("() => caches.keys()") == []
    other.close()


def test_a_damaged_update_is_refused(installed):
    device = installed
    device.ready()
    first = device.version
    device.site.changed["index.html"] = page_of("two")
    device.site.tampered["index.html"] = page_of("three")
    assert device.page.evaluate("() => app.checkForUpdate()") is True
    Device.until(device.page, "() => window.messages.length > 0")
    assert device.page.evaluate("() => window.messages[0][0]") == "failed"
    assert device.caches() == ["applocker/" + first]
    assert device.page.evaluate("() => app.offline.state") == "ready"
    device.page.reload()
    assert device.page.inner_text("h1") == "one"
    # The opened page has tried again by itself. The complete update is then accepted.
    Device.until(device.page, "() => window.messages.some(([kind]) => kind === 'failed')")
    device.site.tampered.clear()
    device.page.evaluate("() => app.checkForUpdate()")
    Device.until(device.page, "() => app.offline.update !== null")


def test_an_update_is_offered_in_every_tab(installed):
    device = installed
    device.ready()
    first = device.version
    other = device.open("/#/alerts")
    device.ready(other)
    device.site.changed["index.html"] = page_of("two")
    second = device.version
    assert device.page.evaluate("() => app.checkForUpdate()") is True
    for page in (device.page, other):
        Device.until(page, f"() => app.offline.update === '{second}'")
        assert page.evaluate("() => window.messages") == [["ready", second]]
    # Without consent the files stay those of one version, also after reloading.
    device.page.reload()
    assert (device.page.inner_text("h1"), other.inner_text("h1")) == ("one", "one")
    Device.until(device.page, f"() => app.offline.update === '{second}'")
    assert device.page.evaluate("() => app.appVersion()")["hash"] == first
    other.evaluate("() => app.updates.addEventListener('reload', () => sessionStorage.setItem('was', 'asked'))")
    assert device.page.evaluate("() => app.applyUpdate()") is True
    for page in (device.page, other):
        page.wait_for_function("() => document.title === 'two' && window.app && app.offline.state === 'ready'")
        assert page.evaluate("() => app.appVersion()")["hash"] == second
        assert page.evaluate("() => app.applyUpdate()") is False
    assert other.evaluate("() => [sessionStorage.getItem('was'), location.hash]") == ["asked", "#/alerts"]
    assert device.caches() == ["applocker/" + second]


def test_evicted_files_are_fetched_again(installed):
    device = installed
    device.ready()
    name = "applocker/" + device.version
    device.page.evaluate("(name) => caches.delete(name)", name)
    device.page.reload()
    assert device.page.inner_text("h1") == "one"
    Device.until(device.page, "async () => (await caches.match('/assets.json')) !== undefined")
    assert device.caches() == [name]
    device.page.evaluate("(name) => caches.delete(name)", name)
    device.site.stop()
    response = device.page.goto(device.site.address)
    assert response.status == 503
    assert "is no longer on this device" in device.page.inner_text("body")
    device.site.start()
    device.page.reload()
    assert device.page.inner_text("h1") == "one"


def test_a_missing_file_is_fetched_again_when_the_app_is_opened(installed):
    device = installed
    device.ready()
    name = "applocker/" + device.version
    device.page.evaluate("async (name) => (await caches.open(name)).delete('/session/companion.js')", name)
    device.page.reload()
    Device.until(device.page, "async () => (await caches.match('/session/companion.js')) !== undefined")
    device.site.stop()
    device.page.reload()
    assert device.page.evaluate("async () => (await import('/session/companion.js')).Companion.name") == "Companion"


def test_a_failed_repair_keeps_the_remaining_files(installed):
    device = installed
    device.ready()
    name = "applocker/" + device.version
    count = "async (name) => (await (await caches.open(name)).keys()).length"
    before = device.page.evaluate(count, name)
    device.page.evaluate("async (name) => (await caches.open(name)).delete('/probe.js')", name)
    # The hub has another version by now.
    device.site.changed["index.html"] = page_of("two")
    assert device.page.evaluate("async () => (await fetch('/probe.js')).status") == 200
    device.site.stop()
    assert device.page.evaluate("() => fetch('/probe.js').then(() => 'answered', () => 'no network')") == "no network"
    device.page.goto(device.site.address)
    assert device.page.inner_text("h1") == "one"
    assert device.page.evaluate(count, name) == before - 1
    device.site.start()
