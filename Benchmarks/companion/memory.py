"""Memory of an open companion after the events of a busy hour."""

import time

from phone import Phone

EVENTS = 200


def measure(run):
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True)
    phone.pair()
    phone.go("alerts", "Alerts")
    session = phone.context.new_cdp_session(phone.page)
    before = heap(session)
    count = run.rounds(EVENTS)
    for _ in range(count):
        run.computer.run("lock", "--all")
        run.computer.run("unlock", "diary", passcode=True)
    time.sleep(3)
    after = heap(session)
    run.figures.add("heap_before", before, "MB", "JavaScript heap of an open companion")
    run.figures.add("heap_after", after, "MB", f"the same after {2 * count} events, the newest shown")
    phone.close()


def heap(session):
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
