"""A PostgreSQL server of a benchmark's or a browser test's own: an ordinary user, a Unix socket only, its data in a
directory that the caller chooses."""

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path


def programs():
    """The directory of the newest installed server's programs, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


class PostgresServer:
    """Its settings are the server's defaults: fsync and synchronous_commit are on."""

    def __init__(self, directory):
        self.bin = programs()
        self.directory = Path(directory)
        # initdb and postgres refuse to run as root.
        self.user = "nobody" if os.geteuid() == 0 else None

    def command(self, name, *arguments):
        words = [str(self.bin / name), *(str(argument) for argument in arguments)]
        return ["runuser", "-u", self.user, "--", *words] if self.user else words

    def __enter__(self):
        self.directory.mkdir(mode=0o700)
        if self.user:
            # The directories above belong to root and may not be readable by others.
            self.directory.parent.chmod(0o711)
            account = pwd.getpwnam(self.user)
            os.chown(self.directory, account.pw_uid, account.pw_gid)
        self.run("initdb", "-D", self.directory / "data", "-U", "hub", "-A", "trust", "--locale=C")
        self.server = subprocess.Popen(
            self.command("postgres", "-D", self.directory / "data", "-k", self.directory, "-c", "listen_addresses="),
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(300):
            if subprocess.run(self.command("pg_isready", "-q", "-h", self.directory)).returncode == 0:
                break
            time.sleep(0.1)
        self.run("createdb", "-h", self.directory, "-U", "hub", "hub")
        return self

    def run(self, name, *arguments):
        result = subprocess.run(
            self.command(name, *arguments), cwd=self.directory, capture_output=True, text=True, check=True
        )
        return result.stdout

    def connection_file(self):
        """Writes libpq's connection string for the hub, readable by its owner only."""
        path = self.directory.parent / "hub.conninfo"
        path.touch(mode=0o600)
        path.write_text(f"host={self.directory} user=hub dbname=hub\n")
        return path

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.directory / "data", "-m", "fast", "stop")
        self.server.wait()
