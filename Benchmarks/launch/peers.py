"""The same launch under fapolicyd, the application allow-list of Debian, in its permissive mode.

fapolicyd answers every launch on the file systems that it watches: if it hangs, everything on them stops. Here it
watches only one file system, of a type that nothing else uses, in a mount namespace of its own; a process outside of it
kills it after some time, which releases what it holds."""

import hashlib
import os
import re
import signal
import statistics
import subprocess
import time
from pathlib import Path

from figures import spread
from processes import children, start, stop
from starts import ROUNDS, time_launches

DAEMON = Path("/usr/sbin/fapolicyd")
VERSION = "1.1.7"
TRUSTED_FILES = 4000
# The time limit of each of its runs, after which it is killed.
LIMIT = 60  # seconds


def measure(run):
    if not DAEMON.exists():
        return run.figures.leave_out(
            "fapolicyd", f"{DAEMON} is missing; install the package fapolicyd without starting it"
        )
    installed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "fapolicyd"], capture_output=True, text=True
    ).stdout
    if not installed.startswith(VERSION):
        return run.figures.leave_out(
            "fapolicyd", f"version {installed or 'unknown'} is installed, {VERSION} is measured"
        )
    if "ramfs" in re.findall(r"^\S+ \S+ (\S+)", Path("/proc/mounts").read_text(), re.MULTILINE):
        return run.figures.leave_out("fapolicyd", "a ramfs is mounted on this machine, and it must not be watched")
    with Room(run) as room:
        times = {"without": [], "with": []}
        for number in range(rounds := run.rounds(ROUNDS)):
            for name in run.random.sample(list(times), 2):
                times[name].append(room.time_launches() if name == "without" else room.time_with_fapolicyd())
            run.progress(
                f"  round {number + 1} of {rounds}: without {times['without'][-1]:.1f}, with {times['with'][-1]:.1f}"
            )
    ratios = [slow / fast for slow, fast in zip(times["with"], times["without"], strict=True)]
    run.figures.add(
        "start_fapolicyd_ratio",
        statistics.median(ratios),
        "ratio",
        f"fapolicyd {VERSION} running, permissive, the program trusted",
        spread=spread(ratios),
    )


class Room:
    """A mount namespace with the watched file system and fapolicyd's own configuration and data."""

    def __init__(self, run):
        self.run = run
        self.place = run.directory / "fapolicyd"
        self.watched = self.place / "watched"
        self.program = self.watched / "program"
        self.log = self.place / "log"

    def __enter__(self):
        configuration = self.place / "etc"
        for directory in (self.place, self.watched, configuration, self.place / "data", self.place / "run"):
            directory.mkdir()
        trusted = trust_list(self.program, self.run.programs["tiny"])
        (configuration / "fapolicyd.trust").write_text(trusted)
        (configuration / "compiled.rules").write_text(
            "allow perm=any all : trust=1\ndeny_audit perm=execute all : all\n"
        )
        # Debian's settings but for the file system, the source of trust, the report at the end, and the user: some
        # containers don't allow it to change that.
        (configuration / "fapolicyd.conf").write_text(
            "permissive = 1\nnice_val = 14\nq_size = 640\nuid = root\ngid = root\ndo_stat_report = 0\n"
            "detailed_report = 0\ndb_max_size = 50\nsubj_cache_size = 1549\nobj_cache_size = 8191\nwatch_fs = ramfs\n"
            "trust = file\nintegrity = none\nsyslog_format = rule,dec,perm,auid,pid,exe,:,path,ftype,trust\n"
            "rpm_sha256_only = 0\nallow_filesystem_mark = 0\n"
        )
        # The namespace lives as long as this process.
        script = (
            f"mount -t ramfs ramfs {self.watched} && chmod 755 {self.watched} && cp {self.run.programs['tiny']} "
            f"{self.program} && mount --bind {configuration} /etc/fapolicyd && mkdir -p /var/lib/fapolicyd "
            f"/run/fapolicyd && mount --bind {self.place}/data /var/lib/fapolicyd && mount --bind {self.place}/run "
            f"/run/fapolicyd && echo READY && exec sleep infinity"
        )
        self.keeper = start(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script], stdout=subprocess.PIPE, bufsize=0
        )
        if self.keeper.stdout.readline().strip() != b"READY":
            stop(self.keeper)
            raise SystemExit("Benchmarks/launch: the mount namespace for fapolicyd could not be made.")
        self.inside = ["nsenter", f"--mount=/proc/{self.keeper.pid}/ns/mnt"]
        return self

    def __exit__(self, *_):
        stop(self.keeper)

    def time_launches(self):
        return time_launches(self.run, self.program, within=self.inside)

    def time_with_fapolicyd(self):
        # `timeout` is the watchdog: outside of the namespace, and running before fapolicyd does.
        limit = ["timeout", "--signal=KILL", "--kill-after=5", LIMIT]
        with open(self.log, "wb") as log:
            watchdog = start(
                [*limit, *self.inside, DAEMON, "--permissive", "--debug-deny"],
                ends_with=signal.SIGTERM,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self.wait_until_it_listens(watchdog)
            result = self.time_launches()
            if watchdog.poll() is not None:
                raise SystemExit("Benchmarks/launch: fapolicyd ended while it was measured.")
            return result
        finally:
            for process in children(watchdog.pid):
                os.kill(process, signal.SIGKILL)
            watchdog.wait()

    def wait_until_it_listens(self, watchdog):
        """Waits until it reports that it listens, and then for a descriptor of permission events with a mark."""
        for _ in range(400):
            if watchdog.poll() is not None:
                break
            listens = b"Starting to listen for events" in self.log.read_bytes()
            if listens and any(has_mark(process) for process in children(watchdog.pid)):
                return
            time.sleep(0.05)
        raise SystemExit(f"Benchmarks/launch: fapolicyd did not start: {self.log.read_text(errors='replace')[-2000:]}")


def has_mark(process):
    """A mark on a mount, see proc_pid_fdinfo(5)."""
    try:
        return any("fanotify mnt_id" in entry.read_text() for entry in Path(f"/proc/{process}/fdinfo").iterdir())
    except OSError:
        return False


def trust_list(program, source):
    """Lines of path, size and SHA-256: the measured program and programs of this machine."""
    lines = [trust_line(program, source)]
    for directory in ("/usr/bin", "/usr/sbin", "/usr/lib"):
        for root, _, names in os.walk(directory):
            for name in sorted(names):
                path = Path(root, name)
                if len(lines) >= TRUSTED_FILES:
                    return "".join(lines)
                if path.is_file() and not path.is_symlink() and " " not in str(path) and path.stat().st_size < 200_000:
                    lines.append(trust_line(path, path))
    return "".join(lines)


def trust_line(path, source):
    content = Path(source).read_bytes()
    return f"{path} {len(content)} {hashlib.sha256(content).hexdigest()}\n"
