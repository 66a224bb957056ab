"""The other programs: installed from Debian if they are missing and this is root."""

import os
import shutil
import subprocess
import sys

# Programs and their packages.
NEEDED = {"age": "age", "gocryptfs": "gocryptfs", "fusermount": "fuse3", "openssl": "openssl"}


def install():
    missing = [package for name, package in NEEDED.items() if not shutil.which(name)]
    if not missing or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print(f"installing {' '.join(missing)} ...", file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    if subprocess.run(command, env=environment, capture_output=True).returncode != 0:
        subprocess.run(["apt-get", "update", "-q"], env=environment, capture_output=True)
        subprocess.run(command, env=environment, capture_output=True)
