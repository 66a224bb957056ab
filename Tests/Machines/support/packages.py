"""AppLocker's packages, as a disk for the machines: /packages/now, and the same programs as the next version."""

import functools
import os
import pathlib
import re
import shutil
import subprocess

from cache import ROOT, cached, digest

NAMES = ("applocker-runtime", "applocker")
ARCHITECTURE = "amd64"


def default_folder():
    return pathlib.Path(os.environ.get("APPLOCKER_PACKAGES") or ROOT / ".build/package")


def newest_version(folder):
    """The newest version of which `folder` has all packages, or None."""
    versions = []
    for file in folder.glob(f"{NAMES[0]}_*_{ARCHITECTURE}.deb"):
        version = file.name.split("_")[1]
        if all((folder / file_name(name, version)).exists() for name in NAMES):
            versions.append(version)
    return max(versions, key=functools.cmp_to_key(compare_versions), default=None)


def compare_versions(one, other):
    if one == other:
        return 0
    return 1 if subprocess.run(["dpkg", "--compare-versions", one, "gt", other]).returncode == 0 else -1


def file_name(name, version):
    return f"{name}_{version}_{ARCHITECTURE}.deb"


class Packages:
    """`files` are the packages, `image` is the disk with them."""

    def __init__(self, folder):
        self.version = newest_version(folder)
        self.next = f"{self.version.rpartition('-')[0] or self.version}+next-1"
        self.files = [folder / file_name(name, self.version) for name in NAMES]
        self.key = digest(self.version, pathlib.Path(__file__), *self.files)
        self.image = cached("packages", self.key, self.build) / "packages.img"

    def build(self, folder):
        tree = folder / "tree"
        for name in ("now", "next"):
            (tree / name).mkdir(parents=True)
        for file in self.files:
            content = folder / "content"
            subprocess.run(["dpkg-deb", "-R", file, content], check=True)
            # Without compression: unpacking costs more in a machine than reading.
            pack(content, tree / "now" / file.name)
            control = content / "DEBIAN/control"
            text = re.sub(r"^Version: .*", f"Version: {self.next}", control.read_text(), flags=re.MULTILINE)
            control.write_text(text.replace(f"(= {self.version})", f"(= {self.next})"))
            pack(content, tree / "next" / file.name.replace(f"_{self.version}_", f"_{self.next}_"))
            shutil.rmtree(content)
        size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) // (1 << 20) * 11 // 10 + 32
        command = ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", tree]
        subprocess.run([*command, folder / "packages.img", f"{size}M"], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)


def pack(content, file):
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", content, file]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
