"""Durable appends to the hub's store, without HTTP: 1 KiB, 64 clients that each wait for their answer."""

import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

from figures import spread
from postgres import PostgresServer, programs

ROUNDS = 7
SECONDS = 3
CLIENTS = 64
PROGRAM = "hub-append-speed"


def measure(run):
    if not os.access(run.build / PROGRAM, os.X_OK):
        run.figures.leave_out(
            "appends", f"{run.build / PROGRAM} is missing; `swift build -c release --product {PROGRAM}`"
        )
        return
    contenders = {
        "disk": lambda: disk(run),
        "sqlite_peer": lambda: sqlite_one_by_one(run),
        "sqlite_one": lambda: sqlite(run, 1, 1),
        "sqlite": lambda: sqlite(run, CLIENTS, 1),
    }
    contenders["sqlite_signed"] = lambda: sqlite(run, CLIENTS, 1, "signed", one_core)
    if os.path.isdir("/dev/shm"):
        contenders["sqlite_memory"] = lambda: sqlite_in_memory(run)
    if programs() is None:
        run.figures.leave_out("append to PostgreSQL", "there is no PostgreSQL server on this machine")
        report(run, shuffled(run, contenders))
        return
    with PostgresServer(run.directory / "postgres") as server:
        file = server.connection_file()
        peer = prepare_pgbench(server)
        contenders["postgres_peer"] = lambda: pgbench(server, peer)
        contenders["postgres_one"] = lambda: store(run, "postgres", file, 1, 1)
        contenders["postgres"] = lambda: store(run, "postgres", file, CLIENTS, 1)
        contenders["postgres_many"] = lambda: store(run, "postgres", file, CLIENTS, CLIENTS)
        report(run, shuffled(run, contenders))


def shuffled(run, contenders):
    """Runs each contender once a round, in random order; returns a dictionary of lists of lists of numbers."""
    results = {name: [] for name in contenders}
    for number in range(rounds := run.rounds(ROUNDS)):
        for name in run.random.sample(list(contenders), len(contenders)):
            results[name].append(contenders[name]())
        run.progress(
            f"  round {number + 1} of {rounds}: " + ", ".join(f"{n} {r[-1][0]:,.0f}/s" for n, r in results.items())
        )
    return results


def seconds(run):
    return 1 if run.is_quick else SECONDS


def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def store(run, kind, place, clients, households, prepare=None):
    """Appends a second, p50 and p99 in microseconds, processor time of each append in microseconds."""
    words = [run.build / PROGRAM, kind, place, clients, seconds(run), households]
    result = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=True, preexec_fn=prepare
    )
    return [float(value) for value in result.stdout.split()]


def sqlite(run, clients, households, kind="sqlite", prepare=None):
    place = run.directory / "sqlite"
    place.mkdir(mode=0o700)
    try:
        return store(run, kind, place, clients, households, prepare)
    finally:
        shutil.rmtree(place)


def sqlite_in_memory(run):
    """On a file system in memory: the limit by the processor, without a disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="applocker-bench-") as place:
        return store(run, "sqlite", place, CLIENTS, 1)


def disk(run):
    """The limit of the disk, one after the other: 4 KiB appended and synced."""
    path = run.directory / "disk"
    block, count, end = os.urandom(4096), 0, time.monotonic() + seconds(run)
    with open(path, "wb", buffering=0) as file:
        begin = time.monotonic()
        while time.monotonic() < end:
            file.write(block)
            os.fdatasync(file.fileno())
            count += 1
        rate = count / (time.monotonic() - begin)
    path.unlink()
    return [rate]


def sqlite_one_by_one(run):
    """The same SQLite from Python: rows of 1 KiB in one transaction each, WAL and FULL."""
    path = run.directory / "peer.sqlite"
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE record (id BLOB PRIMARY KEY, sealed BLOB NOT NULL)")
    sealed, count, begin = os.urandom(1024), 0, time.monotonic()
    while time.monotonic() < begin + seconds(run):
        database.execute("INSERT INTO record VALUES (?, ?)", (os.urandom(16), sealed))
        count += 1
    rate = count / (time.monotonic() - begin)
    database.close()
    for name in run.directory.glob("peer.sqlite*"):
        name.unlink()
    return [rate]


def prepare_pgbench(server):
    where = ["-h", server.directory, "-U", "hub", "-d", "hub"]
    server.run("psql", "-q", *where, "-c", "CREATE TABLE peer (id uuid PRIMARY KEY, sealed bytea NOT NULL)")
    script = server.directory / "insert.sql"
    script.write_text("INSERT INTO peer VALUES (gen_random_uuid(), decode(repeat('5a', 1024), 'hex'));\n")
    script.chmod(0o644)
    return script


def pgbench(server, script):
    """PostgreSQL's own client: the same number of connections, a transaction for each row."""
    load = ["-c", CLIENTS, "-j", 2, "-T", SECONDS, "-f", script]
    output = server.run("pgbench", "-n", "-M", "prepared", "-h", server.directory, "-U", "hub", *load, "hub")
    return [float(re.search(r"tps = ([0-9.]+)", output).group(1))]


def report(run, results):
    rows = [
        ("disk", "disk_syncs", "4 KiB appended and synced, one after the other (the disk)", None),
        ("sqlite_peer", "appends_sqlite_python", "SQLite from Python, FULL, one by one", None),
        ("sqlite_one", "appends_sqlite_one", "the hub's SQLite, FULL, 1 client", None),
        ("sqlite", "appends_sqlite", f"the hub's SQLite, FULL, {CLIENTS} clients", 24_000),
        ("sqlite_signed", "appends_sqlite_signed", "the same on one core, each record's signature checked", 5_000),
        ("sqlite_memory", "appends_sqlite_memory", "the same on a file system in memory", None),
        ("postgres_peer", "appends_pgbench", f"pgbench, {CLIENTS} connections, a transaction a row", None),
        ("postgres_one", "appends_postgres_one", "the hub's PostgreSQL, 1 client", None),
        ("postgres", "appends_postgres", f"the hub's PostgreSQL, {CLIENTS} clients, one household", None),
        (
            "postgres_many",
            "appends_postgres_many",
            f"the hub's PostgreSQL, {CLIENTS} clients, {CLIENTS} households",
            None,
        ),
    ]
    for key, name, words, goal in rows:
        if key not in results:
            continue
        rates = [result[0] for result in results[key]]
        run.figures.add(
            name,
            statistics.median(rates),
            "1/s",
            words,
            None if goal is None else f">= {goal}",
            None if goal is None else lambda value, goal=goal: value >= goal,
            spread(rates),
        )
    for key, words in (("sqlite", "SQLite"), ("postgres", "PostgreSQL")):
        if key not in results:
            continue
        for column, name, unit, scale, what in (
            (1, "p50", "ms", 1e-3, "p50 of an append"),
            (2, "p99", "ms", 1e-3, "p99 of an append"),
            (3, "processor", "us", 1, "processor time of the hub for an append"),
        ):
            values = [result[column] * scale for result in results[key]]
            run.figures.add(
                f"appends_{key}_{name}",
                statistics.median(values),
                unit,
                f"{words}, {CLIENTS} clients: {what}",
                spread=spread(values),
            )
