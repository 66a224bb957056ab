"""Whole files on a disk: lock and unlock compared with age, gocryptfs and cp, each with its data on the disk when it
ends.

Each contender starts with the same state: the file was just written to disk and is cached, and nothing else of the
benchmark."""

import os
import shutil
import statistics
import subprocess
import time

from figures import spread
from memory import ratio

ROUNDS = 7
KEY = "ab" * 48


def measure(run):
    Files(run).measure()


class Files:
    def __init__(self, run):
        self.run = run
        self.place = run.directory / "files"
        self.place.mkdir()
        self.seed = run.directory / "seed"
        self.size = (64 if run.is_quick else 1024) << 20
        with open(self.seed, "wb") as file:
            for _ in range(self.size >> 20):
                file.write(os.urandom(1 << 20))

    def measure(self):
        run = self.run
        contenders = {"cp": self.copy, "cp, rm": self.move, "lock": self.lock, "unlock": self.unlock}
        if shutil.which("age"):
            self.identity = run.directory / "identity"
            self.call("age-keygen", "-o", self.identity)
            self.recipient = self.call("age-keygen", "-y", self.identity).strip().decode()
            contenders |= {"age": self.age, "age -d": self.age_open}
        else:
            run.figures.leave_out("age", "it is not installed")
        mounted = self.mount_gocryptfs()
        if mounted:
            contenders |= {"gocryptfs write": self.gocryptfs_write, "gocryptfs read": self.gocryptfs_read}
        try:
            results = run.shuffled(contenders, ROUNDS)
        finally:
            if mounted:
                subprocess.run(["umount", self.clear], capture_output=True)
        size = f"{self.size >> 20} MiB"
        for name, values in results.items():
            run.figures.add(
                f"file_{name.replace(' -d', '_open').replace(', ', '_').replace(' ', '_')}",
                statistics.median(values),
                "s",
                f"{name}, {size}, until it is on the disk",
                spread=spread(values),
            )
        ratio(run, "lock_to_cp", results["lock"], results["cp"], "lock to cp and fsync", "<= 1.2", lambda v: v <= 1.2)
        ratio(
            run,
            "unlock_to_cp",
            results["unlock"],
            results["cp"],
            "unlock to cp and fsync",
            "<= 1.2",
            lambda v: v <= 1.2,
        )
        ratio(
            run,
            "lock_to_cp_rm",
            results["lock"],
            results["cp, rm"],
            "lock to cp, fsync and removing the original, as lock does",
            None,
            None,
        )
        for ours, theirs in (
            ("lock", "age"),
            ("unlock", "age -d"),
            ("lock", "gocryptfs write"),
            ("unlock", "gocryptfs read"),
        ):
            if theirs in results:
                name = f"{ours}_to_{theirs.replace(' -d', '').split()[0]}"
                ratio(run, name, results[ours], results[theirs], f"{ours} to {theirs}", "< 1", lambda v: v < 1)

    def mount_gocryptfs(self):
        self.sealed, self.clear = self.run.directory / "sealed", self.run.directory / "clear"
        if not shutil.which("gocryptfs") or not os.path.exists("/dev/fuse"):
            self.run.figures.leave_out("files in gocryptfs", "gocryptfs or /dev/fuse is missing")
            return False
        self.sealed.mkdir(), self.clear.mkdir()
        password = self.run.directory / "password"
        password.write_text("benchmark\n")
        for command in (["-init", "-scryptn", "10", self.sealed], [self.sealed, self.clear]):
            result = subprocess.run(
                ["gocryptfs", "-q", "-passfile", password, *command], capture_output=True, text=True
            )
            if result.returncode != 0:
                self.run.figures.leave_out(
                    "files in gocryptfs", (result.stdout + result.stderr).strip().split("\n")[-1]
                )
                return False
        return True

    def call(self, *words):
        return subprocess.run([str(word) for word in words], check=True, capture_output=True).stdout

    def fresh(self, name="original"):
        """The file, and nothing else; it is on the disk."""
        for path in self.place.iterdir():
            path.unlink()
        path = self.place / name
        shutil.copyfile(self.seed, path)
        self.sync(path)
        return path

    def sync(self, path):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    def timed(self, *words, result=None):
        start = time.monotonic()
        self.call(*words)
        if result:
            self.sync(result)
        return time.monotonic() - start

    def copy(self):
        path = self.fresh()
        return self.timed("cp", path, self.place / "copy", result=self.place / "copy")

    def move(self):
        path, copy = self.fresh(), self.place / "copy"
        return self.timed("sh", "-c", 'cp "$1" "$2" && sync "$2" && rm "$1"', "sh", path, copy)

    def lock(self):
        return self.timed(self.run.program, "lock", KEY, self.fresh())

    def unlock(self):
        path = self.fresh()
        self.call(self.run.program, "lock", KEY, path)
        return self.timed(self.run.program, "unlock", KEY, f"{path}.aplk")

    def age(self):
        path, sealed = self.fresh(), self.place / "original.age"
        return self.timed("age", "-r", self.recipient, "-o", sealed, path, result=sealed)

    def age_open(self):
        path, sealed = self.fresh(), self.place / "original.age"
        self.call("age", "-r", self.recipient, "-o", sealed, path)
        self.sync(sealed)
        path.unlink()
        return self.timed("age", "-d", "-i", self.identity, "-o", path, sealed, result=path)

    def gocryptfs_write(self):
        path, copy = self.fresh(), self.clear / "copy"
        copy.unlink(missing_ok=True)
        return self.timed("cp", path, copy, result=copy)

    def gocryptfs_read(self):
        copy, target = self.clear / "copy", self.place / "copy"
        if not copy.exists():
            self.call("cp", self.seed, copy)
            self.sync(copy)
        self.fresh().unlink()
        return self.timed("cp", copy, target, result=target)
