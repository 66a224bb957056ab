"""A hidden companion locks: in a tab that is really hidden, frozen, and shown again."""

import pytest

import pages
import raw_chromium
from raw_chromium import PageIsGone
from waiting import eventually

PREPARE = """(async () => {
    // Time stands still until a test moves it: both clocks by `skew`, and the timers too by `advance`.
    window.skew = { monotonic: 0, wall: 0 };
    const start = Date.now();
    const clocks = { monotonic: () => window.skew.monotonic, wall: () => start + window.skew.wall };
    const [later, cancel] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
    const waiting = new Map();
    // The lock's own timers are the only ones of at least a second here.
    window.setTimeout = (body, milliseconds, ...rest) => {
        if (!(milliseconds >= 1000)) return later(body, milliseconds, ...rest);
        const id = `held ${waiting.size}`;
        waiting.set(id, { body, at: window.skew.monotonic + milliseconds });
        return id;
    };
    window.clearTimeout = (id) => void (waiting.has(id) ? waiting.set(id, null) : cancel(id));
    window.advance = (milliseconds) => {
        window.skew.monotonic += milliseconds;
        window.skew.wall += milliseconds;
        for (const [id, timer] of waiting) {
            if (!timer || timer.at > window.skew.monotonic) continue;
            waiting.set(id, null);
            timer.body();
        }
    };
    const { Companion } = await import("/session/companion.js");
    const { AutoLock } = await import("/features/lock-screen/auto-lock.js");
    const { FakeHousehold } = await import("/tests/fake-household.js");
    const household = await FakeHousehold.make();
    household.serve();
    window.companion = await Companion.open();
    await companion.pair(household.link(), "phone");
    await companion.setPIN("735102");
    window.lock = new AutoLock(companion, document, clocks);
    await lock.ready;
    // After AutoLock's own listener, before anything is painted.
    const now = () => `${document.visibilityState} ${companion.state}`;
    document.addEventListener("visibilitychange", () => (window.seen = now()));
    companion.addEventListener("state", () => localStorage.setItem("state", companion.state));
})()"""


class Hidden:
    def __init__(self, chromium, address):
        self.profile = chromium.new_profile()
        self.tab = chromium.open(address + "/tests.html", self.profile)
        self.other = chromium.open("about:blank", self.profile)
        self.tab.show()
        self.until("document.visibilityState === 'visible' && location.pathname === '/tests.html'")
        self.tab.run(PREPARE)

    def until(self, condition):
        def holds():
            try:
                return self.tab.run(condition)
            except PageIsGone:
                return False

        eventually(holds, condition)

    def advance(self, seconds):
        self.tab.run(f"advance({seconds * 1000})")

    def hide(self):
        self.other.show()
        self.until("document.visibilityState === 'hidden'")

    def show(self):
        self.tab.show()
        self.until("document.visibilityState === 'visible'")
        return self.tab.run("window.seen")

    def unlock(self):
        self.tab.run("companion.unlockWithPIN('735102')")
        assert self.tab.run("companion.state") == "unlocked"


@pytest.fixture(scope="module")
def browser_and_site():
    """One browser; each test has a profile of its own."""
    chromium = raw_chromium.RawChromium()
    with pages.served() as address:
        yield chromium, address
    chromium.end()


@pytest.fixture
def hidden(browser_and_site):
    """An unlocked companion in a visible tab of its own profile."""
    chromium, address = browser_and_site
    hidden = Hidden(chromium, address)
    yield hidden
    chromium.forget(hidden.profile)


def test_hiding_briefly_keeps_it_unlocked(hidden):
    assert hidden.tab.run("lock.seconds") == 60
    hidden.hide()
    hidden.advance(59)
    assert hidden.show() == "visible unlocked"


def test_a_hidden_companion_locks_by_itself(hidden):
    hidden.hide()
    hidden.advance(59)
    assert hidden.tab.run("companion.state") == "unlocked"
    hidden.advance(1)
    assert hidden.tab.run("companion.state") == "locked"
    assert hidden.tab.run("document.visibilityState") == "hidden"
    hidden.show()


def test_a_missed_timer_locks_before_content_is_shown(hidden):
    """As after sleep: only the wall clock advanced."""
    hidden.unlock()
    hidden.tab.run("lock.set(300)")
    hidden.hide()
    hidden.tab.run("(skew.wall += 301e3, 0)")
    assert hidden.show() == "visible locked"


def test_setting_the_clock_back_does_not_delay_locking(hidden):
    hidden.unlock()
    hidden.hide()
    hidden.tab.run("(skew.monotonic += 301e3, skew.wall -= 3600e3, 0)")
    assert hidden.show() == "visible locked"
    hidden.unlock()
    hidden.hide()
    # The device slept for over an hour, and the clock was set back by slightly more.
    hidden.tab.run("(skew.wall -= 5e3, 0)")
    assert hidden.show() == "visible locked"


def test_a_frozen_page_is_locked_when_it_resumes(hidden):
    hidden.unlock()
    hidden.hide()
    # A frozen page runs nothing: the time passes after AutoLock's own listener.
    hidden.tab.run("document.addEventListener('freeze', () => (skew.monotonic += 301e3))")
    hidden.tab.send("Page.setWebLifecycleState", state="frozen")
    hidden.tab.send("Page.setWebLifecycleState", state="active")
    hidden.until("skew.monotonic === 301e3")
    hidden.until("companion.state === 'locked'")
    assert hidden.tab.run("document.visibilityState") == "hidden"
    hidden.show()


def test_the_immediate_setting_locks_when_hidden(hidden):
    hidden.unlock()
    hidden.tab.run("lock.set(0)")
    hidden.tab.run("companion.unlockWithPIN('735102')")
    hidden.hide()
    assert hidden.tab.run("[window.seen, companion.state]") == ["hidden locked", "locked"]
    # It may have been hidden while the PIN was being checked.
    hidden.tab.run("companion.unlockWithPIN('735102').catch(() => {})")
    hidden.until("localStorage.getItem('state') === 'locked'")
    hidden.show()


def test_the_auto_lock_setting_is_stored(hidden):
    hidden.tab.run("lock.set(300)")
    assert (
        hidden.tab.run("""(async () => {
        const { AutoLock } = await import("/features/lock-screen/auto-lock.js");
        const other = new AutoLock(companion, document);
        await other.ready;
        other.end();
        return other.seconds;
    })()""")
        == 300
    )
    assert hidden.tab.run("lock.set(61).then(() => 'taken', (error) => error.name)") == "RangeError"
    hidden.tab.run("lock.set(0)")


def test_navigating_away_locks(hidden):
    hidden.tab.run("lock.set(0)")
    hidden.unlock()
    assert hidden.tab.run("localStorage.getItem('state')") == "unlocked"
    hidden.tab.run("(location.href = '/tests.html?another', 0)")
    hidden.until("location.search === '?another' && document.readyState === 'complete'")
    assert hidden.tab.run("localStorage.getItem('state')") == "locked"
