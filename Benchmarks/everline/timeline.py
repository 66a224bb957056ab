"""From unlocking to the painted timeline, with 5,000 moments and 8,000 photos."""

from figures import percentile, spread
from moment_steps import PAINTED, many, opened
from phone import Phone

ROUNDS = 20


def measure(run):
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True).pair()
    page = phone.page
    moments, photos = (500, 800) if run.is_quick else (5000, 8000)
    many(phone, moments, photos)
    opened(phone)
    page.locator(".moment-card").first.wait_for(timeout=120_000)
    # From here on the decrypted moments are also stored sealed in one piece.
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
    run.figures.add(
        "timeline_p50",
        percentile(times, 0.5),
        "ms",
        f"{words}, p50 of {len(times)}",
        "< 500",
        lambda value: value < 500,
        spread(times),
    )
    run.figures.add("timeline_most", max(times), "ms", "  the longest")
    phone.close()
