"""The first load of the app, later ones without a network, and the time to unlock."""

import time

from figures import percentile, spread
from phone import PIN, Phone

LOADS = 24
UNLOCKS = 24

# Interactive: the heading of the first screen is drawn, and the main thread is idle.
INTERACTIVE = """() => new Promise((resolve) => {
    const look = () => {
        if (!document.querySelector("h1")) return requestAnimationFrame(look);
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    look();
})"""


def measure(run):
    first_load(run)
    phone = Phone(run.browser.new_context, run.computer, has_service_worker=True)
    # A passkey requires a host name.
    phone.address = phone.address.replace("127.0.0.1", "localhost")
    phone.pair()
    phone.page.wait_for_function("() => navigator.serviceWorker.controller !== null", timeout=30_000)
    unlocking(run, phone)
    offline_load(run, phone)
    phone.close()


def first_load(run):
    """A browser without stored data; bytes as received from the network for the first page. Behind it, the service
    worker requests the list of files, and the files that are missing."""
    sizes, counts, times = [], [], []
    for _ in range(run.rounds(LOADS)):
        phone = Phone(run.browser.new_context, run.computer, has_service_worker=True)
        session = phone.context.new_cdp_session(phone.page)
        session.send("Network.enable")
        later, received = set(), []
        session.on(
            "Network.requestWillBeSent",
            lambda event, to=later: to.add(event["requestId"]) if "/assets.json" in event["request"]["url"] else None,
        )
        session.on("Network.loadingFinished", lambda event, to=received: to.append(event))
        phone.page.goto(phone.address)
        times.append(phone.page.evaluate(INTERACTIVE))
        first = [event["encodedDataLength"] for event in received if event["requestId"] not in later]
        sizes.append(sum(first) / 1000)
        counts.append(len(first))
        phone.close()
    run.figures.add(
        "first_load_bytes",
        percentile(sizes, 0.5),
        "kB",
        "first load over the network, headers too",
        "< 150",
        lambda value: value < 150,
    )
    run.figures.add("first_load_files", percentile(counts, 0.5), "", "  files")
    run.figures.add(
        "first_load",
        percentile(times, 0.5),
        "ms",
        f"first load to interactive, p50 of {len(times)}",
        spread=spread(times),
    )


def offline_load(run, phone):
    times = []
    phone.context.set_offline(True)
    for _ in range(run.rounds(LOADS)):
        phone.page.reload()
        times.append(phone.page.evaluate(INTERACTIVE))
    phone.context.set_offline(False)
    run.figures.add(
        "offline_load",
        percentile(times, 0.5),
        "ms",
        f"load without a network to interactive, p50 of {len(times)}",
        "< 300",
        lambda value: value < 300,
        spread(times),
    )


def unlocking(run, phone):
    times = []
    for _ in range(run.rounds(UNLOCKS)):
        phone.page.reload()
        phone.page.get_by_role("heading", name="AppLocker is locked").wait_for()
        phone.page.keyboard.type(PIN)
        began = time.monotonic()
        phone.page.keyboard.press("Enter")
        phone.page.locator(".tabs").wait_for()
        times.append((time.monotonic() - began) * 1000)
    run.figures.add(
        "unlock_pin",
        percentile(times, 0.5),
        "ms",
        f"unlock by PIN, to the first screen, p50 of {len(times)}",
        spread=spread(times),
    )
    phone.has_authenticator()
    times = phone.page.evaluate(PASSKEY, [PIN, run.rounds(UNLOCKS)])
    run.figures.add(
        "unlock_passkey",
        percentile(times, 0.5),
        "ms",
        f"unlock by passkey (a virtual authenticator), p50 of {len(times)}",
        spread=spread(times),
    )


PASSKEY = """async ([pin, count]) => {
    const { Companion } = await import("/session/companion.js");
    const { createPasskey, askPasskey } = await import("/household/passkey.js");
    const companion = await Companion.open();
    await companion.unlockWithPIN(pin);
    const made = await createPasskey("benchmark");
    await companion.addPasskey(made.passkey, made.output);
    const times = [];
    for (let round = 0; round < count; round += 1) {
        companion.lock();
        const start = performance.now();
        await companion.unlockWithPasskey(await askPasskey(await companion.passkey()));
        times.push(performance.now() - start);
    }
    companion.close();
    return times;
}"""
