"""From the gate's answer to the painted timeline, with 5,000 moments and 8,000 photos."""

from app import Phone
from app_moments_many import PAINTED
from figures import percentile, spread
from moment_steps import MANY, TITLES, WORDS, beside, opened

ROUNDS = 20


def measure(run):
    phone = Phone(run.browser, run.computer).pair()
    page = phone.page
    moments, photos = (500, 800) if run.is_quick else (5000, 8000)
    beside(phone, MANY, {"moments": moments, "photos": photos, "titles": TITLES, "words": WORDS})
    opened(phone)
    page.locator(".moment-card").first.wait_for(timeout=120_000)
    # What was opened is kept sealed in one piece from here on.
    page.wait_for_timeout(1500)
    times = []
    for _ in range(3 if run.is_quick else ROUNDS):
        page.reload()
        phone.unlock()
        page.get_by_role("heading", name="Open your moments").wait_for()
        page.evaluate(PAINTED)
        phone.type_pin()
        times.append(page.evaluate("shown"))
    words = f"the gate's answer to the painted timeline, {moments:,} moments with {photos:,} photos"
    run.figures.add("timeline_p50", percentile(times, 0.5), "ms", f"{words}, p50 of {len(times)}", "< 500", lambda value: value < 500, spread(times))
    run.figures.add("timeline_most", max(times), "ms", "  the longest")
    phone.close()
