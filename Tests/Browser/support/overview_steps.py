"""Steps of the tests of home, launches, alerts and apps: records in the browser's store, a real launch, gestures."""

import json
import subprocess
import time

# Seals a record of the household with a revision that is higher than any of the computer's: what it sends meanwhile
# replaces nothing.
SEAL_SHARED = """
    const { sealEnvelope } = await import("/crypto/envelope.js");
    const { signRecord } = await import("/crypto/signature.js");
    const { utf8 } = await import("/crypto/bytes.js");
    const sealShared = async (collection, id, body) => {
        const { keys, statusKeys } = companion.device;
        const epoch = Math.max(...statusKeys.keys());
        const name = { vault: keys.household, collection, id, revision: 1_000_000 };
        const sealed = await sealEnvelope(utf8(JSON.stringify(body)), name, statusKeys.get(epoch), epoch);
        return signRecord(keys.signingKey, name, { epoch, author: keys.device, sealed });
    };
"""

# Writes records to this browser's store as if the hub had sent them, sealed under the household's own key by a second
# companion in the same page. `arg`: the kind and how many.
MAKE = (
    SEAL_SHARED
    + """
    const [kind, count] = arg;
    const { randomID } = await import("/crypto/bytes.js");
    const { store } = companion.device;
    let [first] = await companion.household.computers();
    while (!first) {
        // A phone that was paired just now has not received it yet.
        await new Promise((done) => setTimeout(done, 20));
        [first] = await companion.household.computers();
    }
    const nasty = [
        "<img src=x onerror=alert(1)>", "\\u202eRight to left \\u05e9\\u05dc\\u05d5\\u05dd", "👩‍👩‍👧‍👦🏳️‍🌈",
        "a\\u200bb\\u200cc\\u200d", "x".repeat(10000), "wide ".repeat(2000),
    ];
    const newest = (await companion.household.alerts({ limit: 1 }))[0]?.sequence ?? 0;
    const makers = {
        alerts: (index) => ["events", randomID(), {
            kind: ["blocked", "failed", "unlocked"][index % 3], computer: first.id, computerName: first.name,
            app: `app-${index}`, appName: `App ${index}`, time: Date.now() - (count - index) * 240_000 - 60_000,
            sentence: `Sentence ${index} that is about as long as they are.`,
        }],
        blocked: () => ["events", randomID(), {
            kind: "blocked", computer: first.id, computerName: first.name, app: "diary", appName: "diary",
            time: Date.now(), sentence: "diary was denied.",
        }],
        repeated: (index) => ["events", randomID(), {
            kind: "blocked", computer: first.id, computerName: first.name, app: "repeater", appName: "Repeater",
            time: Date.now() - 20_000 + index * 2000,
            sentence: "It tried again.",
        }],
        nasty: (index) => ["events", randomID(), {
            kind: "blocked", computer: first.id, computerName: nasty[index % 6],
            app: nasty[index % 6], appName: nasty[index % 6],
            time: Date.now(), sentence: nasty[index % 6], reason: nasty[index % 6],
        }],
        computers: (index) => ["status", randomID(), {
            ...first, name: nasty[index % 6], hubProblems: [nasty[index % 6]], clock: Date.now() + 3_600_000,
            status: { ...first.status, protection: "weak", monitoring: { isOn: false, endsInSeconds: 600 } },
        }],
        launches: (index) => ["requests", randomID(), {
            computer: first.id, computerName: nasty[index % 6], prompt: "none",
            app: nasty[index % 6], appName: nasty[index % 6], path: nasty[index % 6],
            parentName: nasty[index % 6], userName: nasty[index % 6],
            clock: Date.now(), expires: Date.now() + 600_000, defaultGrantSeconds: 300,
        }],
        forgotten: () => ["requests", randomID(), {
            computer: first.id, computerName: first.name, prompt: "0".repeat(32),
            app: "diary", appName: "Diary", path: "/usr/bin/diary",
            clock: Date.now(), expires: Date.now() + 600_000, defaultGrantSeconds: 300,
        }],
        apps: () => ["apps", first.id, {
            clock: Date.now(),
            apps: nasty.map((name, at) => ({
                id: name, name, state: ["locked", "unlocked", "outside_schedule", "monitoring_off"][at % 4],
                opensUntil: Date.now() + 300_000, categories: at % 2 ? [nasty[at]] : [],
                schedule: "block mon-fri 09:00-17:00",
            })),
            others: nasty.map((name) => ({ id: name, name })), categories: nasty.map((name) => ({ name })),
        }],
    };
    const rows = [];
    for (let index = 0; index < count; index += 1) {
        const [collection, id, body] = makers[kind](index);
        rows.push(sealShared(collection, id, body).then((record) => ({
            key: `${collection}/${id}`, collection, sequence: newest + 1 + index, record, at: Date.now(),
        })));
        if (rows.length % 200 === 0) await Promise.all(rows.slice(-200));
    }
    const made = await Promise.all(rows);
    await store.write({ records: made });
    companion.device.changed(made.map(({ key }) => key));
"""
)


def make(phone, kind, count):
    phone.inside(MAKE, [kind, count])


def opens_alerts(phone, least):
    """Opens the alerts; returns the seconds until the first row, and until all, which are `least` or more."""
    start = time.monotonic()
    phone.go("alerts", "Alerts")
    phone.page.locator(".alert").first.wait_for()
    first = time.monotonic() - start
    phone.page.wait_for_function(
        "(least) => parseInt(document.querySelector('.alerts > [role=status]').textContent) >= least", arg=least
    )
    return first, time.monotonic() - start


def start_diary(computer):
    """Starts the program on the real computer: the kernel holds it before its first instruction, and the phone shows a
    prompt."""
    program = json.loads(computer.expect("app", "diary", "--json"))["executables"][0]
    return subprocess.Popen(
        ["/bin/sh", "-c", 'exec "$0"', program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def fail_passcode(computer):
    """Enters a wrong passcode at the computer."""
    assert computer.run("unlock", "diary", passcode="wrong one") is None


def command_succeeds(phone, scope=None):
    """Waits for the computer's response to a command and returns the text of its line, which disappears after some
    seconds."""
    return (
        (scope or phone.page)
        .locator(".command-progress[data-state=done]:not([hidden])")
        .evaluate("(line) => line.innerText")
    )


def wheel(phone):
    """Scrolls down by 72,000 pixels, as fast as a person can."""
    session = phone.context.new_cdp_session(phone.page)
    for _ in range(12):
        session.send(
            "Input.synthesizeScrollGesture",
            {"x": 200, "y": 400, "yDistance": -6000, "speed": 60_000, "gestureSourceType": "mouse"},
        )
    session.detach()


def touch(phone, points):
    """Moves a finger along these points, to the last of which it stays. The events are 30 milliseconds apart by their
    timestamps; the test doesn't wait."""
    session = phone.context.new_cdp_session(phone.page)
    begin = time.time() - len(points) * 0.03
    for index, (x, y) in enumerate(points):
        session.send(
            "Input.dispatchTouchEvent",
            {
                "type": "touchMove" if index else "touchStart",
                "touchPoints": [{"x": x, "y": y}],
                "timestamp": begin + index * 0.03,
            },
        )
    return session


def lift(session):
    """Lifts the finger of `touch`."""
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
