"""What this computer needs for virtual machines."""

import os
import pathlib
import platform
import shutil

import mirror
import packages

PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "debootstrap": "debootstrap",
    "mke2fs": "e2fsprogs",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "depmod": "kmod",
    "iasl": "acpica-tools",
    "swtpm": "swtpm",
}


def missing(folder):
    """A reason, or None. `folder` is that of AppLocker's packages."""
    if platform.machine() != "x86_64":
        return "the machines are of the architecture amd64"
    if os.geteuid() != 0:
        return "the root file system is built as root"
    for program, package in PROGRAMS.items():
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            return f"{program} is missing (Debian: {package}; `Scripts/setup vm` installs it)"
    if not pathlib.Path(mirror.KEYRING).exists():
        return f"{mirror.KEYRING} is missing (Debian: debian-archive-keyring)"
    if not mirror.mirror():
        return "apt's sources name no mirror of Debian"
    if not packages.newest_version(folder):
        return f"{folder} does not have all of AppLocker's packages; `make deb` builds them"
    return None
