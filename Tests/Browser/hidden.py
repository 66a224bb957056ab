"""A companion that nobody looks at locks: in a tab that is really hidden, frozen, and shown again."""

import time
import traceback

import pages
import raw_chromium

PREPARE = """(async () => {
    // Time runs sixty times as fast here, for the timers and both clocks; `skew` is what a test adds.
    const speed = 60;
    const { setTimeout: slow } = window;
    window.setTimeout = (body, milliseconds) => slow(body, milliseconds / speed);
    window.skew = { monotonic: 0, wall: 0 };
    const start = [performance.now(), Date.now()];
    const clocks = {
        monotonic: () => start[0] + (performance.now() - start[0]) * speed + window.skew.monotonic,
        wall: () => start[1] + (performance.now() - start[0]) * speed + window.skew.wall,
    };
    const { Companion } = await import("/core/companion.js");
    const { AutoLock } = await import("/core/autolock.js");
    const { MadeHousehold } = await import("/tests/made-household.js");
    const household = await MadeHousehold.make();
    household.serve();
    window.companion = await Companion.open();
    await companion.pair(household.link(), "phone");
    await companion.setPIN("735102");
    window.lock = new AutoLock(companion, document, clocks);
    await lock.ready;
    // After AutoLock's own listener, before anything is painted.
    document.addEventListener("visibilitychange", () => (window.seen = `${document.visibilityState} ${companion.state}`));
    companion.addEventListener("state", () => localStorage.setItem("state", companion.state));
})()"""


class Hidden:
    def __init__(self, chromium, address):
        self.tab = chromium.open(address + "/tests.html")
        self.other = chromium.open("about:blank")
        self.tab.show()
        self.until("document.visibilityState === 'visible' && location.pathname === '/tests.html'")
        self.tab.run(PREPARE)

    def until(self, condition, seconds=10):
        end = time.monotonic() + seconds
        while not self.tab.run(condition):
            if time.monotonic() > end:
                raise AssertionError(f"not in {seconds} s: {condition}; {self.tab.run('window.seen')}")
            time.sleep(0.02)

    def hide(self):
        self.other.show()
        self.until("document.visibilityState === 'hidden'")

    def show(self):
        self.tab.show()
        self.until("document.visibilityState === 'visible'")
        return self.tab.run("window.seen")

    def unlock(self):
        self.tab.run("companion.unlockWithPIN('735102')")
        equal(self.tab.run("companion.state"), "unlocked")

    # In this order, in one tab.

    def aShortLookAwayLeavesItOpen(self):
        equal(self.tab.run("lock.seconds"), 60)
        self.hide()
        equal(self.show(), "visible unlocked")

    def itLocksByItselfWhileItIsHidden(self):
        self.hide()
        self.until("companion.state === 'locked'")
        equal(self.tab.run("document.visibilityState"), "hidden")
        self.show()

    def aTimerThatNeverCameLocksBeforeAnythingIsSeen(self):
        """A device that slept: only the clock on the wall went on."""
        self.unlock()
        self.tab.run("lock.set(300)")
        self.hide()
        self.tab.run("(skew.wall += 301e3, 0)")
        equal(self.show(), "visible locked")

    def aClockThatWasSetBackDoesNotExtendIt(self):
        self.unlock()
        self.hide()
        self.tab.run("(skew.monotonic += 301e3, skew.wall -= 3600e3, 0)")
        equal(self.show(), "visible locked")
        self.unlock()
        self.hide()
        # Slept for longer than an hour, and set back by a little more than that.
        self.tab.run("(skew.wall -= 5e3, 0)")
        equal(self.show(), "visible locked")

    def aFrozenPageIsLockedWhenItGoesOn(self):
        self.unlock()
        self.hide()
        self.tab.send("Page.setWebLifecycleState", state="frozen")
        self.tab.send("Page.setWebLifecycleState", state="active")
        self.tab.run("(skew.monotonic += 301e3, 0)")
        equal(self.show(), "visible locked")

    def atOnceIsAtOnce(self):
        self.unlock()
        self.tab.run("lock.set(0)")
        self.tab.run("companion.unlockWithPIN('735102')")
        self.hide()
        equal(self.tab.run("[window.seen, companion.state]"), ["hidden locked", "locked"])
        self.show()

    def theSettingIsKept(self):
        self.tab.run("lock.set(300)")
        equal(self.tab.run("""(async () => {
            const { AutoLock } = await import("/core/autolock.js");
            const other = new AutoLock(companion, document);
            await other.ready;
            other.end();
            return other.seconds;
        })()"""), 300)
        equal(self.tab.run("lock.set(61).then(() => 'taken', (error) => error.name)"), "RangeError")
        self.tab.run("lock.set(0)")

    def leavingThePageLocks(self):
        self.unlock()
        equal(self.tab.run("localStorage.getItem('state')"), "unlocked")
        self.tab.run("(location.href = '/tests.html?another', 0)")
        self.until("location.search === '?another' && document.readyState === 'complete'")
        equal(self.tab.run("localStorage.getItem('state')"), "locked")


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r}")


def run(_):
    """One after another; what follows stands on what was before."""
    chromium = raw_chromium.RawChromium()
    results = []
    try:
        with pages.served() as address:
            hidden = Hidden(chromium, address)
            for name in [name for name in vars(Hidden) if name[0].islower() and name not in ("until", "hide", "show", "unlock")]:
                start, failure = time.monotonic(), None
                try:
                    getattr(hidden, name)()
                except Exception:
                    failure = traceback.format_exc()
                results.append({"name": name, "failure": failure, "milliseconds": round((time.monotonic() - start) * 1000)})
                if failure:
                    break
    finally:
        chromium.end()
    return results
