"""What the tests of home, alerts and apps have in common: records made in the browser's store, the gate, a launch, a finger."""


import subprocess
import time

from app import PIN


def start_diary(computer):
    """On the real computer: the kernel holds it before its first instruction, and the phone is asked."""
    return subprocess.Popen(
        ["/bin/sh", "-c", 'exec "$0"', computer.folder / "diary"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# Puts records into the store of this browser as if they had been taken, sealed under the household's own key: through a second
# companion in the same page, which is no other device.
MADE = """async ([pin, kind, count]) => {
    const { Companion } = await import("/core/companion.js");
    const { randomID } = await import("/crypto/bytes.js");
    const companion = window.made ??= await Companion.open();
    if (companion.state !== "unlocked") await companion.unlockWithPIN(pin);
    const { store, keys } = companion.device;
    const [first] = await companion.household.computers();
    const nasty = ["<img src=x onerror=alert(1)>", "\u202eRight to left \u05e9\u05dc\u05d5\u05dd", "👩‍👩‍👧‍👦🏳️‍🌈", "a\u200bb\u200cc\u200d", "x".repeat(10000), "wide ".repeat(2000)];
    const newest = (await companion.household.alerts({ limit: 1 }))[0]?.sequence ?? 0;
    const makers = {
        alerts: (index) => ["events", randomID(), {
            kind: ["blocked", "failed", "unlocked"][index % 3], computer: first.id, computerName: first.name, app: `app-${index}`,
            appName: `App ${index}`, time: Date.now() - (count - index) * 240_000 - 60_000, sentence: `Sentence ${index} that is about as long as they are.`,
        }],
        repeated: (index) => ["events", randomID(), {
            kind: "blocked", computer: first.id, computerName: first.name, app: "repeater", appName: "Repeater", time: Date.now() - 20_000 + index * 2000,
            sentence: "It tried again.",
        }],
        nasty: (index) => ["events", randomID(), {
            kind: "blocked", computer: first.id, computerName: nasty[index % 6], app: nasty[index % 6], appName: nasty[index % 6],
            time: Date.now(), sentence: nasty[index % 6], reason: nasty[index % 6],
        }],
        computers: (index) => ["status", randomID(), {
            ...first, name: nasty[index % 6], hubProblems: [nasty[index % 6]], clock: Date.now() + 3_600_000,
            status: { ...first.status, protection: "weak", monitoring: { isOn: false, endsInSeconds: 600 } },
        }],
        launches: (index) => ["requests", randomID(), {
            computer: first.id, computerName: nasty[index % 6], prompt: "none", app: nasty[index % 6], appName: nasty[index % 6], path: nasty[index % 6],
            parentName: nasty[index % 6], userName: nasty[index % 6], clock: Date.now(), expires: Date.now() + 60_000, defaultGrantSeconds: 300,
        }],
        forgotten: () => ["requests", randomID(), {
            computer: first.id, computerName: first.name, prompt: "0".repeat(32), app: "diary", appName: "Diary", path: "/usr/bin/diary",
            clock: Date.now(), expires: Date.now() + 60_000, defaultGrantSeconds: 300,
        }],
        apps: (index) => ["apps", first.id, {
            clock: Date.now(), apps: nasty.map((name, at) => ({ id: name, name, state: ["locked", "unlocked", "outside_schedule", "monitoring_off"][at % 4],
                opensUntil: Date.now() + 300_000, categories: at % 2 ? [nasty[at]] : [], schedule: "block mon-fri 09:00-17:00" })),
            others: nasty.map((name) => ({ id: name, name })), categories: nasty.map((name) => ({ name })),
        }],
    };
    const rows = [];
    for (let index = 0; index < count; index += 1) {
        const [collection, id, body] = makers[kind](index);
        rows.push(keys.sealHousehold(collection, id, body, companion.device.statusKeys).then((record) => ({
            key: `${collection}/${id}`, collection, sequence: newest + 1 + index, record, at: Date.now(),
        })));
        if (rows.length % 200 === 0) await Promise.all(rows.slice(-200));
    }
    const made = await Promise.all(rows);
    window.madeBefore = kind === "apps" ? await store.record(made[0].key) : null;
    await store.write({ records: made });
    const told = made.map(({ key }) => key);
    companion.device.changed(told);
    return told;
}"""
REMOVED = """async (keys) => {
    const { store } = window.made.device;
    for (const key of keys) {
        const row = window.madeBefore?.key === key ? window.madeBefore : { ...(await store.record(key)), collection: "gone", hidden: true };
        await store.write({ records: [row] });
    }
    window.made.device.changed(keys);
}"""
HIDDEN = """async (keys) => {
    const { store } = window.made.device;
    const rows = await Promise.all(keys.map((key) => store.record(key)));
    await store.write({ records: rows.map((row) => ({ ...row, collection: "gone" })) });
    window.made.device.changed(["events/"]);
}"""
KEPT = "async (count) => window.made.device.store.write({ facts: { alertsKept: count } })"


def make(phone, kind, count):
    return phone.page.evaluate(MADE, [PIN, kind, count])


def confirm(phone):
    """The gate once more."""
    phone.page.locator("dialog .keypad").wait_for()
    phone.type_pin()
    phone.page.locator("dialog").wait_for(state="detached")


def command_succeeds(phone, scope=None):
    """The line of a command goes on to the computer's own word."""
    line = (scope or phone.page).locator(".flight[data-state=done]")
    line.wait_for(timeout=20_000)
    return line.inner_text()


def touch(phone, points):
    """A finger along these points."""
    session = phone.context.new_cdp_session(phone.page)
    for index, (x, y) in enumerate(points):
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if index else "touchStart", "touchPoints": [{"x": x, "y": y}]})
        time.sleep(0.03)
    return session
