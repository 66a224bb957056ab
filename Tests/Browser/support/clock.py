"""The clock of a page, moved by Playwright."""

import contextlib


def pause(page, ahead=10):
    """Until `page.clock.resume()`, at a time `ahead` seconds from now: Playwright pauses in the future only. After
    ten seconds a silent hub is still connected."""
    page.clock.pause_at(page.evaluate("() => Date.now()") / 1000 + ahead)


@contextlib.contextmanager
def paused(page, ahead=15):
    """On any machine, what is done meanwhile takes no time of the page: Undo is still offered, and two presses of = are
    within a second and a half."""
    pause(page, ahead)
    yield
    page.clock.resume()
