"""A vault with many notes in a running AppLocker: unlocking it, the list, a search; through the control socket."""

import http.client
import json
import os
import statistics
import time

from applocker import PASSCODE, AppLocker, ControlConnection
from figures import percentile, spread

NOTES = 10_000
UNLOCKS = 11
ROUNDS = 21
WORDS = ("harbour", "lantern", "meadow", "copper", "winter", "orchard", "signal", "velvet", "granite", "thistle")


def measure(run):
    if os.geteuid() != 0:
        run.figures.leave_out("notes", "AppLocker holds launches only where it is started by root")
        return
    count = run.notes or (NOTES // 20 if run.is_quick else NOTES)
    with AppLocker(run, "notes") as applocker:
        applocker.set_up()
        vault = Vault(applocker.socket)
        vault.open()
        run.progress(f"  adding {count} notes")
        for number in range(count):
            vault.add(number)
        unlocks, first = [], []
        for _ in range(UNLOCKS):
            unlocks.append(vault.unlocked())
            # The first list after unlocking also loads what is not in memory yet.
            first.append(vault.listed(count))
        lists = [vault.listed(count) for _ in range(run.rounds(ROUNDS))]
        add(run, "vault_unlock", unlocks, "unlock the vault by key derivation, p50")
        add(run, "notes_list_first", first, f"list of {count} notes, the first after an unlock, p50", 100)
        add(run, "notes_list", lists, f"list of {count} notes, p50", 100)
        for name, search, words in (
            ("title", WORDS[0], "a word in one title of ten"),
            ("one", f"{WORDS[3]} number-{count // 2}", "two words that one note has"),
            ("none", "nowhere", "a word that no note has"),
        ):
            times = [vault.searched(search, count) for _ in range(run.rounds(ROUNDS))]
            add(run, f"notes_search_{name}", times, f"search of {count} notes for {words}, p50", 200)


def add(run, name, seconds, words, limit=None):
    values = [value * 1e3 for value in seconds]
    run.figures.add(
        name,
        statistics.median(values),
        "ms",
        words,
        None if limit is None else f"< {limit}",
        None if limit is None else lambda value: value < limit,
        spread(values),
    )
    run.progress(f"  {words}: {statistics.median(values):.1f} ms, p95 {percentile(values, 0.95):.1f} ms")


class Vault:
    """One persistent connection, as a program that shows notes has."""

    def __init__(self, path):
        self.connection = ControlConnection(path, timeout=60)

    def call(self, method, path, body=None):
        self.connection.request(
            method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"}
        )
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise http.client.HTTPException(
                f"{method} {path}: {answer.status} {content.decode(errors='replace')[:300]}"
            )
        return content

    def open(self):
        self.call("POST", "/v1/vault/unlock", {"passcode": PASSCODE})

    def unlocked(self):
        self.call("POST", "/v1/vault/lock")
        start = time.perf_counter()
        self.open()
        return time.perf_counter() - start

    def add(self, number):
        """About 550 bytes of text, the size of a note of a few sentences; the first word is only in titles."""
        body = " ".join(WORDS[1 + number * step % 9] for step in range(1, 80))
        self.call("POST", "/v1/notes", {"title": f"{WORDS[number % 10]} number-{number} {WORDS[3]}", "body": body})

    def timed(self, path):
        start = time.perf_counter()
        content = self.call("GET", path)
        return time.perf_counter() - start, json.loads(content)["notes"]

    def listed(self, count):
        seconds, notes = self.timed("/v1/notes")
        if len(notes) != count:
            raise SystemExit(f"Benchmarks/seal: {len(notes)} notes are listed instead of {count}.")
        return seconds

    def searched(self, words, count):
        seconds, notes = self.timed("/v1/notes?search=" + words.replace(" ", "%20"))
        expected = {WORDS[0]: -(-count // 10), "nowhere": 0}.get(words, 1)
        if len(notes) != expected:
            raise SystemExit(f"Benchmarks/seal: {len(notes)} notes are found by '{words}' instead of {expected}.")
        return seconds
