"""From a blocked launch, through gate, daemon, hub and the companion's own checks, to the painted prompt; and from the
pointer's event on Approve to the main function of the held app, by the one clock of this machine."""

import os
import subprocess
import time

from figures import percentile, spread
from machine import programs
from phone import Phone

LAUNCHES = 60
ANSWERS = 40

# Reports when the frame that shows a row with a new key was presented, in milliseconds since 1970.
WATCH = """(selector) => {
    const seen = new Set([...document.querySelectorAll(selector)].map((node) => node.dataset.key));
    window.painted = [];
    window.watching?.disconnect();
    window.watching = new MutationObserver(() => {
        for (const node of document.querySelectorAll(selector)) {
            if (seen.has(node.dataset.key)) continue;
            seen.add(node.dataset.key);
            requestAnimationFrame(() => {
                const { port1, port2 } = new MessageChannel();
                port1.onmessage = () => window.painted.push(performance.timeOrigin + performance.now());
                port2.postMessage(null);
            });
        }
    });
    window.watching.observe(document.body, { subtree: true, childList: true });
}"""
# When the finger or the button was lifted, which the driver's waiting and the card's guard against early taps precede.
# An event's time and performance.now() share a clock, whose distance from Date.now() is taken at the event.
LIFTED = """() => document.addEventListener("pointerup", (event) => {
    window.lifted = Date.now() - (performance.now() - event.timeStamp);
}, { capture: true })"""
PAINTED = "() => window.painted.length > 0"


def measure(run):
    if os.geteuid() != 0:
        return run.figures.leave_out("journey", "AppLocker holds launches only where it is started by root")
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True)
    phone.pair()
    alerts(run, phone)
    answers(run, phone)
    phone.close()


def add(run, name, words, times, goals=()):
    for share in (0.5, 0.99):
        goal = dict(goals).get(share)
        run.figures.add(
            f"{name}_p{int(share * 100)}",
            percentile(times, share),
            "ms",
            f"{words}, p{int(share * 100)} of {len(times)}",
            goal and f"< {goal}",
            goal and (lambda value, goal=goal: value < goal),
            spread(times),
        )


def alerts(run, phone):
    """Without a prompt: the launch is denied at once, and the phone is notified."""
    run.computer.run("settings", "set", "--ask-phone-only", "off", passcode=True)
    phone.go("alerts", "Alerts")
    program, times = run.computer.folder / "diary", []
    for _ in range(run.rounds(LAUNCHES)):
        # Alerts of one app within five seconds are merged, so a launch starts each time after that.
        time.sleep(5.2)
        # Without input the companion locks itself after five minutes.
        phone.page.keyboard.press("Shift")
        phone.page.evaluate(WATCH, "main [data-key]")
        began = time.time() * 1000
        try:
            subprocess.run([str(program)], capture_output=True)
            raise SystemExit("Benchmarks/companion: a locked app ran.")
        except PermissionError:
            pass
        phone.page.wait_for_function(PAINTED, timeout=10_000)
        times.append(phone.page.evaluate("() => window.painted[0]") - began)
    add(run, "alert", "blocked launch to the alert painted", times, [(0.5, 100)])


def answers(run, phone):
    """The launch is held until the phone approves it."""
    program = programs(run.computer.folder)["started"]
    run.computer.expect("add", str(program), passcode=True)
    run.computer.run("settings", "set", "--ask-phone-only", "on", passcode=True)
    phone.go("home", "Home")
    phone.page.evaluate(LIFTED)
    shown, answered = [], []
    for _ in range(run.rounds(ANSWERS)):
        run.computer.run("lock", "--all")
        time.sleep(1)
        phone.page.evaluate(WATCH, "main [data-key]")
        began = time.time() * 1000
        held = subprocess.Popen(["/bin/sh", "-c", 'exec "$0"', str(program)], stdout=subprocess.PIPE, text=True)
        phone.page.wait_for_function(PAINTED, timeout=10_000)
        shown.append(phone.page.evaluate("() => window.painted[0]") - began)
        phone.page.get_by_role("button", name="Approve").first.click()
        started = held.communicate(timeout=20)[0]
        if held.returncode != 0:
            raise SystemExit("Benchmarks/companion: an approved launch was denied.")
        answered.append(float(started) - phone.page.evaluate("() => window.lifted"))
    add(run, "request", "held launch to its card painted", shown)
    add(run, "answer", "pointer's event on Approve to the app's main", answered, [(0.5, 60), (0.99, 150)])
