"""Importing photos: by the command line, by the browser, by gocryptfs, by copying."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from computer import Computer
from phone import Phone
from unobserved import UnobservedChromium

LEAST = {"cli_rate": 12, "cli_to_gocryptfs": 0.45, "browser_rate": 3}
PER_DAY = 20
FIRST_DAY = 1_500_000_000


def measure(run):
    folder = generate(run)
    paths = sorted(folder.iterdir())
    size = sum(path.stat().st_size for path in paths)
    run.figures.add(
        "photo_size", size / len(paths) / 1e6, "MB", f"one of {len(paths)} photos of 12 megapixels, on average"
    )
    words = {
        "copy": "copied and synced",
        "gocryptfs": "copied into gocryptfs and synced",
        "cli": "applocker moments import (sending at the same time)",
        "browser": "imported by the companion in Chromium (sending at the same time)",
    }
    rates = {}
    for name in run.contenders:
        act = CONTENDERS[name](run, folder)
        if not act:
            continue
        subprocess.run(["sync"], check=True)
        busy, began = busy_seconds(), time.monotonic()
        act()
        seconds, busy = time.monotonic() - began, busy_seconds() - busy
        rates[name] = len(paths) / seconds
        add(run, f"{name}_rate", rates[name], "1/s", f"{words[name]}: photos a second")
        run.figures.add(
            f"{name}_cpu", 1000 * busy / len(paths), "ms", "  processor time of the whole machine for a photo"
        )
    for name in ("cli", "browser"):
        for other in ("copy", "gocryptfs"):
            if name in rates and other in rates:
                add(
                    run,
                    f"{name}_to_{other}",
                    rates[name] / rates[other],
                    "ratio",
                    f"{words[name]}: photos a second beside {other}",
                )
    if "cli" in rates:
        sealed = stored(run.computer.state / "blobs")
        run.figures.add(
            "overhead", 100 * (sealed / size - 1), "%", "size of sealed originals and medium sizes beyond the originals"
        )


def add(run, name, value, unit, words):
    goal = LEAST.get(name)
    run.figures.add(name, value, unit, words, goal and f">= {goal}", lambda value: value >= goal)


def generate(run):
    """Real JPEGs, all different, of the size of a phone's; twenty a day."""
    folder = run.directory / "photos"
    folder.mkdir()
    source = "testsrc2=size=4000x3000:rate=25,noise=alls=14:allf=t"
    command = f"ffmpeg -v error -f lavfi -i {source} -frames:v {run.count} -q:v 3".split()
    subprocess.run([*command, folder / "%05d.jpg"], check=True)
    for number, path in enumerate(sorted(folder.iterdir())):
        date = FIRST_DAY + number // PER_DAY * 86_400 + number % PER_DAY * 60
        os.utime(path, (date, date))
    return folder


def busy_seconds():
    """Processor time of all processors since the machine started (proc(5), /proc/stat)."""
    numbers = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return (sum(numbers[:3]) + sum(numbers[5:7])) / os.sysconf("SC_CLK_TCK")


def stored(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def copy(run, folder):
    def act():
        shutil.copytree(folder, run.directory / "copy")
        subprocess.run(["sync"], check=True)

    return act


def gocryptfs(run, folder):
    sealed, clear, password = (run.directory / name for name in ("sealed", "clear", "password"))
    if not shutil.which("gocryptfs") or not os.path.exists("/dev/fuse"):
        run.figures.leave_out("gocryptfs", "gocryptfs or /dev/fuse is missing")
        return None
    sealed.mkdir(), clear.mkdir()
    password.write_text("benchmark\n")
    for words in (["-init", "-scryptn", "10", sealed], [sealed, clear]):
        result = subprocess.run(["gocryptfs", "-q", "-passfile", password, *words], capture_output=True, text=True)
        if result.returncode != 0:
            run.figures.leave_out("gocryptfs", (result.stdout + result.stderr).strip().split("\n")[-1])
            return None

    def act():
        try:
            shutil.copytree(folder, clear / "photos")
            subprocess.run(["sync"], check=True)
        finally:
            subprocess.run(["umount", clear], check=True)

    return act


def command_line(run, folder):
    """Ends when all are sealed and durable on the computer."""

    def act():
        child = run.computer.start("moments", "import", str(folder), "--json", passcode=True, stdin=subprocess.DEVNULL)
        _, errors = child.communicate()
        if child.returncode != 0:
            raise SystemExit(f"Benchmarks/everline: {errors.strip()}")

    return act


def browser(run, folder):
    """In a household of its own: there, the photos that the command line imported would be skipped as duplicates. Ends
    when all are sealed and durable in the browser."""
    run.second = Computer(run.build, run.directory / "second").set_up()
    chromium = UnobservedChromium(run.browser.browser_type, run.directory / "profile")
    connection = chromium.connected()
    phone = Phone(None, run.second, context=connection.contexts[0], has_service_worker=True).pair()
    page = phone.page
    phone.go("settings/everline/import", "Import photos")
    page.evaluate(CHOOSE_LATER)
    page.get_by_role("button", name="Choose a folder").click()
    session = phone.context.new_cdp_session(page)
    chosen = session.send("Runtime.evaluate", {"expression": "chosenInput"})["result"]["objectId"]
    session.send("DOM.setFileInputFiles", {"files": [str(folder)], "objectId": chosen})
    button = page.get_by_role("button", name=re.compile("^Add .* photos"))
    button.wait_for(timeout=600_000)
    page.evaluate(SHOW_THE_END)

    def act():
        try:
            button.click()
            connection.close()
            chromium.wait_for_title(END)
        finally:
            chromium.end()

    return act


# Keeps the page's input of a folder instead of opening the chooser of the platform.
CHOOSE_LATER = """() => {
    window.showDirectoryPicker = undefined;
    HTMLInputElement.prototype.click = function () { window.chosenInput = this; };
}"""
END = "all photos added"
SHOW_THE_END = f"""() => new MutationObserver(() => {{
    if (/new moments? added/.test(document.body.textContent)) document.title = "{END}";
}}).observe(document.body, {{ subtree: true, childList: true, characterData: true }})"""
CONTENDERS = {"copy": copy, "gocryptfs": gocryptfs, "cli": command_line, "browser": browser}
