"""Without a hub; with a push message that the computer sealed; in a browser of the computer itself."""

import json
import os
import re
import stat
import subprocess

import pytest

import pages
from notified import deliver
from phone import DESKTOP, Phone
from waiting import eventually, eventually_reported

IS_KEPT = "async () => (await import('/workers/registration.js')).offline.state === 'ready'"
# The daemon sends the hub the same record as push message that the hub stores.
NEWEST_EVENT = """() => new Promise((resolve, reject) => {
    const request = indexedDB.open("applocker");
    request.onerror = reject;
    request.onsuccess = () => {
        const all = request.result.transaction("records").objectStore("records").getAll();
        all.onsuccess = () => {
            request.result.close();
            const rows = all.result.filter(({ collection }) => collection === "events");
            rows.sort((one, other) => one.sequence - other.sequence);
            resolve(rows.length ? JSON.stringify(rows.at(-1).record) : null);
        };
    };
})"""
SHOWN = """async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, body }) => [title, body]);
}"""


@pytest.mark.service_worker
def test_the_app_opens_without_a_hub(phone, computer):
    page = phone.page
    eventually(lambda: page.evaluate(IS_KEPT), "the app's files are cached")
    computer.stop_hub()
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    version = page.evaluate("async () => (await (await import('/workers/registration.js')).appVersion()).version")
    assert version == pages.RELEASE
    computer.start_hub()
    phone.online_again()
    phone.unlock()


@pytest.mark.service_worker
def test_a_push_from_the_computer_is_shown_while_locked(phone, computer):
    page = phone.page
    phone.context.grant_permissions(["notifications"], origin=phone.address)
    session = phone.context.new_cdp_session(page)
    registrations = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(
            one["registrationId"] for one in event["registrations"] if not one["isDeleted"]
        ),
    )
    session.send("ServiceWorker.enable")
    eventually(lambda: page.evaluate(IS_KEPT), "the worker is active")
    before = page.evaluate(NEWEST_EVENT)
    computer.run("unlock", "diary", passcode="wrong one")
    eventually(lambda: page.evaluate(NEWEST_EVENT) != before, "an event arrives")
    eventually_reported(page, lambda: registrations, "the worker's registration is found")
    record = page.evaluate(NEWEST_EVENT)
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    worker = phone.context.service_workers[0]
    deliver(session, worker, phone.address, registrations[-1], record)
    eventually(lambda: page.evaluate(SHOWN), "a notification")
    [[title, body]] = page.evaluate(SHOWN)
    assert title.startswith("Wrong passcode on ") and body, (title, body)
    phone.unlock()


def test_the_panel_opens_already_paired(new_context, computer):
    folder = computer.folder / "desktop"
    folder.mkdir()
    program = folder / "xdg-open"
    # Written under another name first, so that the file is complete when it appears.
    program.write_text('#!/bin/sh\necho "$1" > "$HOME/opening" && mv "$HOME/opening" "$HOME/opened"\n')
    program.chmod(0o755)
    computer.environment |= {
        "PATH": f"{folder}:/usr/bin:/bin",
        "DISPLAY": ":7",
        "XDG_RUNTIME_DIR": str(computer.folder),
    }
    desk = Phone(new_context, computer, DESKTOP, name="Browser")
    panel = computer.start("panel", "--json", passcode=True, stdin=subprocess.DEVNULL)
    try:
        opened = computer.folder / "opened"
        eventually(opened.exists, "the browser is opened")
        path = opened.read_text().strip()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        # The page redirects there.
        desk.page.goto("file://" + path)
        desk.page.wait_for_url(re.compile(r"http://localhost:\d+/"))
        desk.page.get_by_label("Name of this device").fill("Browser")
        desk.page.get_by_role("button", name="Pair this device").click()
        desk.page.get_by_role("heading", name="Choose a PIN").wait_for()
        output, errors = panel.communicate(timeout=60)
        assert panel.returncode == 0, errors
        assert json.loads(output)["name"].endswith(" panel"), output
        assert not os.path.exists(path), "the page with the link remains"
        desk.type_pin()
        desk.page.get_by_role("heading", name="Repeat the PIN").wait_for()
        desk.type_pin()
        desk.page.get_by_role("heading", name="Home", level=1).wait_for()
        assert desk.page.evaluate("location.hash").find("pair") < 0
        desk.picture("panel")
        desk.quiet()
    finally:
        if panel.poll() is None:
            panel.terminate()
            panel.wait(60)
