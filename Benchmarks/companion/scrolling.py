"""The longest task of the page's main thread, at a quarter of the processor's speed, while thousands of rows scroll and
are searched."""

import json

import moment_steps
from note_steps import MANY, SCROLL, SEARCH, opened
from overview_steps import make, opens_alerts, wheel
from phone import Phone

ALERTS = 10_000
NOTES = 5_000
MOMENTS = 5_000


def measure(run):
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True).pair()
    alerts(run, phone)
    notes(run, phone)
    phone.close()
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True).pair()
    timeline(run, phone)
    phone.close()
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True).pair()
    map_(run, phone)
    phone.close()


def alerts(run, phone):
    count = run.rounds(ALERTS)
    make(phone, "alerts", count)
    opens_alerts(phone, count)
    _, longest = traced(phone, lambda: wheel(phone))
    add(run, "alerts_task", f"{count:,} alerts scrolled, the longest task", longest)


def notes(run, phone):
    count = run.rounds(NOTES)
    phone.inside(MANY, count)
    page = opened(phone)
    page.locator(".notes-row").first.wait_for()
    _, longest = traced(phone, lambda: page.evaluate(SCROLL))
    add(run, "notes_task", f"{count:,} notes scrolled, the longest task", longest)
    times = [took for *_, took in page.evaluate(SEARCH)]
    run.figures.add(
        "notes_search",
        max(times),
        "ms",
        f"{count:,} notes searched while one types, the longest of {len(times)}",
        "< 100",
        lambda value: value < 100,
    )


def timeline(run, phone):
    count = run.rounds(MOMENTS)
    moment_steps.many(phone, count, count * 8 // 5)
    page = moment_steps.opened(phone)
    page.locator(".moment-photo[data-shown]").first.wait_for()
    _, longest = traced(phone, lambda: wheel(phone))
    add(run, "timeline_task", f"the timeline of {count:,} moments scrolled, the longest task", longest)


def map_(run, phone):
    count = run.rounds(MOMENTS)
    moment_steps.placed(phone, count)
    page = moment_steps.opened(phone, "moments/map", "Map")
    page.locator(".map-mark").first.wait_for()
    _, longest = traced(phone, lambda: page.evaluate(moment_steps.MOVE_MAP))
    add(run, "map_task", f"the map of {count:,} moments moved and zoomed, the longest task", longest)


def add(run, name, words, longest):
    run.figures.add(name, longest, "ms", words, "< 50", lambda value: value < 50)


def traced(phone, body, least=100):
    """Returns what `body` returns, and the longest task of the page's main thread meanwhile, at a quarter of the
    processor's speed, in milliseconds of processor time: on a busy machine a task's elapsed time includes waiting for a
    processor. Requires at least `least` tasks."""
    session = phone.context.new_cdp_session(phone.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    phone.browser.start_tracing(page=phone.page, categories=["toplevel"])
    try:
        result = body()
    finally:
        events = json.loads(phone.browser.stop_tracing())["traceEvents"]
        session.detach()
    mains = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        one["tdur"] / 1000
        for one in events
        if one["name"] == "ThreadControllerImpl::RunTask" and (one["pid"], one["tid"]) in mains and "tdur" in one
    ]
    assert len(tasks) > least, f"{len(tasks)} tasks were seen"
    return result, max(tasks)
