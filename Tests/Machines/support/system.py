"""The root file system of the machines: Debian 12 by debootstrap, with a kernel's modules, as a disk image."""

import pathlib
import re
import shutil
import subprocess

from cache import MACHINES, cached, digest
from mirror import KEYRING, mirror

SUITE = "bookworm"
FILES = MACHINES / "guest"
PACKAGES = """
    systemd systemd-sysv udev dbus polkitd libpam-systemd kmod procps iproute2 cron at bsdutils tpm2-tools
    libtss2-tcti-device0 upower
""".split()
# Nothing that a test needs. Without them a machine boots in half the time.
MASKED = """
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
    systemd-tmpfiles-clean.timer systemd-binfmt.service systemd-hwdb-update.service
    systemd-journal-catalog-update.service systemd-journal-flush.service systemd-machine-id-commit.service
    systemd-pcrphase.service systemd-pcrphase-initrd.service systemd-pcrphase-sysinit.service systemd-pstore.service
    systemd-random-seed.service systemd-timesyncd.service systemd-update-done.service systemd-update-utmp.service
    systemd-update-utmp-runlevel.service systemd-networkd.service systemd-network-generator.service getty@.service
    autovt@.service serial-getty@.service ldconfig.service systemd-remount-fs.service modprobe@.service
    dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount
    sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount
""".split()
UNUSED = "usr/share/doc usr/share/man usr/share/locale usr/share/info var/cache/apt var/lib/apt/lists boot".split()
GIGABYTES = 3


def libraries(packages):
    """The packages, apart from AppLocker's own, that the packages in the folder `packages` depend on."""
    names = set()
    for package in packages:
        fields = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True, capture_output=True, text=True)
        for alternatives in fields.stdout.replace("\n", " ").split(","):
            name = re.match(r"\s*([a-z0-9.+-]*)", alternatives)[1]
            if name and not name.startswith("applocker"):
                names.add(name)
    return sorted(names)


def disk_image(kernel, packages):
    """An image of the root file system with AppLocker's packages installed, which start at the first boot, and the
    modules of `kernel`."""
    names = sorted({*PACKAGES, *libraries(packages.files)})
    own = pathlib.Path(__file__)
    tree = cached("system", digest(SUITE, *names), lambda folder: bootstrap(folder / "root", names))
    key = digest(tree.name, FILES, own, kernel.folder.name, packages.key)

    def build(folder):
        write_disk(tree / "root", kernel, packages, folder)

    return cached(f"disk-{kernel.name}", key, build) / "disk.img"


def bootstrap(root, names):
    command = ["debootstrap", "--variant=minbase", f"--keyring={KEYRING}", f"--include={','.join(names)}"]
    result = subprocess.run([*command, SUITE, root, mirror()], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"debootstrap failed:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")


def write_disk(pristine, kernel, packages, folder):
    root = folder / "root"
    # With owners, modes and hard links.
    subprocess.run(["cp", "-a", "--reflink=auto", pristine, root], check=True)
    for path in UNUSED:
        shutil.rmtree(root / path, ignore_errors=True)
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)
    shutil.copytree(kernel.modules, root / "lib/modules" / kernel.release, symlinks=True)
    configure(root)
    install(root, packages.files)
    command = ["mke2fs", "-q", "-t", "ext4", "-J", "size=16", "-E", "root_owner=0:0", "-d", root]
    subprocess.run([*command, folder / "disk.img", f"{GIGABYTES}G"], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)


def configure(root):
    subprocess.run(["cp", "-r", "--no-preserve=ownership", f"{FILES}/.", root], check=True)
    (root / "etc/hostname").write_text("machine\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost machine\n")
    (root / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (root / "packages").mkdir()
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 0\n")
    units = root / "etc/systemd/system"
    for unit in MASKED:
        (units / unit).unlink(missing_ok=True)
        (units / unit).symlink_to("/dev/null")
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "machine-shell.service").symlink_to("/etc/systemd/system/machine-shell.service")
    # Debian's list has the name guest.
    (root / "etc/at.deny").write_text("")
    for name, number in (("guest", 4242), ("other", 4243)):
        chroot(root, "useradd", "--create-home", "--uid", str(number), "--shell", "/bin/bash", name)
        (root / "home" / name).chmod(0o700)
    # Locked apps. The first prints its argument's content, or waits for its input; the second is another one.
    for app in ("probe", "second"):
        place = root / "opt" / app
        place.mkdir()
        shutil.copy(root / "bin/cat", place / app)
        (place / "words").write_text(f"{app} ran\n")


def install(root, packages):
    for package in packages:
        shutil.copy(package, root / "tmp")
    files = [f"/tmp/{package.name}" for package in packages]
    chroot(root, "env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--force-unsafe-io", "-i", *files)
    for file in files:
        (root / file.lstrip("/")).unlink()


def chroot(root, *command):
    # With /proc, in a mount namespace that ends with the command.
    script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    result = subprocess.run(["unshare", "--mount", "sh", "-c", script, root, *command], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(result.stdout + result.stderr)[-3000:]}")
