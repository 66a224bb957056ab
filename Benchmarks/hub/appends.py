"""Durable appends of 1 KiB by 64 clients to the hub's stores, without HTTP."""

import json
import os
import pwd
import shutil
import signal
import statistics
import subprocess
import time
from pathlib import Path

from figures import spread
from processes import start, stop

CLIENTS = 64
SECONDS = 5
HOUSEHOLDS = 16
ROUNDS = 5


def measure(run):
    program = run.build / "hub-append-speed"
    if not os.access(program, os.X_OK):
        return run.figures.leave_out("appends", f"{program} is missing; `swift build -c release --product hub-append-speed`")
    rates = {"sqlite": [], "postgres": []}
    with Postgres(run) as postgres:
        for number in range(rounds := run.rounds(ROUNDS)):
            for store in run.random.sample(list(rates), 2):
                if store == "postgres" and not postgres.file:
                    continue
                place = run.directory / f"appends-{store}-{number}"
                place.mkdir(mode=0o700)
                rates[store].append(append(program, store, postgres.file if store == "postgres" else place))
                shutil.rmtree(place, ignore_errors=True)
            run.say(f"  round {number + 1} of {rounds}: " + ", ".join(f"{s} {r[-1]:,.0f}/s" for s, r in rates.items() if r))
    for store, words, goal in (("sqlite", "SQLite, each transaction on disk (FULL)", None),
                               ("postgres", "PostgreSQL, synchronous_commit on", None)):
        if rates[store]:
            run.figures.add(
                f"appends_{store}", statistics.median(rates[store]), "per second",
                f"appends of 1 KiB, {CLIENTS} clients: {words}", goal, None, spread(rates[store]))


def append(program, store, place):
    result = subprocess.run(
        [program, store, place, str(CLIENTS), str(SECONDS), str(HOUSEHOLDS)], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"Benchmarks/hub: {program.name} failed: {result.stderr.strip()}")
    return float(result.stdout.replace(",", " ").split()[0])


class Postgres:
    """A server of our own on a Unix socket, as an ordinary user."""

    def __init__(self, run):
        self.run, self.file, self.process = run, None, None

    def __enter__(self):
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not binaries:
            self.run.figures.leave_out("PostgreSQL", "its server is missing; install the package postgresql")
            return self
        place = self.run.directory / "postgres"
        place.mkdir(mode=0o700)
        user = pwd.getpwnam("postgres" if any(e.pw_name == "postgres" for e in pwd.getpwall()) else "nobody")
        shutil.chown(place, user.pw_uid, user.pw_gid)

        def as_user(*words):
            return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *map(str, words)]

        subprocess.run(
            as_user(binaries[-1] / "initdb", "-D", place / "data", "-A", "trust", "-U", "hub", "--no-sync"), check=True,
            capture_output=True, cwd="/")
        self.process = start(
            as_user(binaries[-1] / "postgres", "-D", place / "data", "-c", "listen_addresses=", "-c",
                    f"unix_socket_directories={place}"), ends_with=signal.SIGTERM, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd="/")
        deadline = time.monotonic() + 30
        while subprocess.run(as_user("psql", "-h", place, "-U", "hub", "-d", "postgres", "-c", "select 1"),
                             capture_output=True, cwd="/").returncode != 0:
            if time.monotonic() > deadline:
                raise SystemExit("Benchmarks/hub: PostgreSQL did not start.")
            time.sleep(0.2)
        self.file = self.run.directory / "connection"
        self.file.write_text(f"host={place} user=hub dbname=postgres\n")
        self.file.chmod(0o600)
        return self

    def __exit__(self, *_):
        if self.process:
            stop(self.process)
