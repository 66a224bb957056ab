"""Kernels of Debian, and the small initial RAM disk that mounts the root file system."""

import lzma
import pathlib
import re
import shutil
import subprocess

from cache import cached, digest
from mirror import Suite

# The names that tests and --kernel use, and the release that each is from.
SUITES = {"6.1": "bookworm", "6.12": "bookworm-backports", "trixie": "trixie"}
PACKAGE = "linux-image-cloud-amd64"
# Without these the root file system can't be mounted. NVMe is built in, but a machine that has it can't be saved.
MODULES = ("virtio_pci", "virtio_blk", "ext4")

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /dev /root
/bin/busybox mount -t devtmpfs dev /dev
for module in /modules/*; do /bin/busybox insmod "$module"; done
until [ -b /dev/vda ]; do /bin/busybox sleep 0.1; done
/bin/busybox mount -t ext4 /dev/vda /root
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /sbin/init
"""


class Kernel:
    """`image`, `initrd` and `modules` are files and a folder of the cache."""

    def __init__(self, name):
        self.name = name
        key = digest(SUITES[name], PACKAGE, pathlib.Path(__file__))
        self.folder = cached(f"kernel-{name}", key, self.build)
        self.image = self.folder / "vmlinuz"
        self.initrd = self.folder / "initrd"
        self.modules = next((self.folder / "modules").iterdir())
        self.release = self.modules.name

    @property
    def version(self):
        """For comparison, such as (6, 12)."""
        return tuple(int(number) for number in self.release.split(".")[:2])

    @property
    def parameters(self):
        # Without a comparison of 16 bytes that 6.12 and QEMU's emulation disagree on.
        return "clearcpuid=cx16" if self.version >= (6, 12) else ""

    def build(self, folder):
        suite = Suite(SUITES[self.name])
        package = suite.download(suite.dependency(PACKAGE), folder)
        subprocess.run(["dpkg-deb", "-x", package, folder / "content"], check=True)
        package.unlink()
        next((folder / "content/boot").glob("vmlinuz-*")).rename(folder / "vmlinuz")
        modules = next(path for path in (folder / "content").glob("**/lib/modules/*") if path.is_dir())
        # The package's own script creates these lists after its installation.
        subprocess.run(["depmod", "-b", modules.parents[2], modules.name], check=True)
        write_initrd(modules, folder / "initrd")
        modules.parent.rename(folder / "modules")
        shutil.rmtree(folder / "content")


def write_initrd(modules, file):
    tree = file.with_name("initrd.tree")
    (tree / "bin").mkdir(parents=True)
    (tree / "modules").mkdir()
    shutil.copy("/bin/busybox", tree / "bin/busybox")
    (tree / "init").write_text(INIT)
    (tree / "init").chmod(0o755)
    for number, path in enumerate(in_order(modules)):
        data = (modules / path).read_bytes()
        if path.endswith(".xz"):
            data = lzma.decompress(data)
        (tree / "modules" / f"{number:02}-{pathlib.Path(path).name.removesuffix('.xz')}").write_bytes(data)
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    archive = subprocess.run(
        ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=tree, input=names.encode(), stdout=-1, check=True
    )
    file.write_bytes(archive.stdout)
    shutil.rmtree(tree)


def in_order(modules):
    """The files of MODULES and of the modules that they need, each after those."""
    needs = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, _, dependencies = line.partition(":")
        needs[path] = dependencies.split()
    paths = {re.sub(r"\.ko.*", "", pathlib.Path(path).name).replace("-", "_"): path for path in needs}
    order = []
    for name in MODULES:
        # One that is missing here is built into the kernel.
        if name in paths:
            order += [*reversed(needs[paths[name]]), paths[name]]
    return list(dict.fromkeys(order))
