"""Built files, kept under .build/machines by the hash of what they are made of."""

import contextlib
import fcntl
import hashlib
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
MACHINES = ROOT / "Tests/Machines"
CACHE = ROOT / ".build/machines"


def digest(*parts):
    """The hash of texts and of the content of files and folders."""
    total = hashlib.sha256()
    for part in parts:
        files = [part]
        if isinstance(part, pathlib.Path) and part.is_dir():
            files = sorted(path for path in part.rglob("*") if path.is_file() and path.suffix != ".pyc")
        for file in files:
            data = file.read_bytes() if isinstance(file, pathlib.Path) else str(file).encode()
            name = str(file.relative_to(part)) if file is not part else ""
            total.update(f"{name}\0{len(data)}\0".encode() + data)
    return total.hexdigest()[:16]


def cached(name, key, build):
    """Returns the folder NAME-KEY. If it does not exist, `build(folder)` fills it, and other folders NAME-* are
    removed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / f"{name}-{key}"
    with locked(name):
        if folder.exists():
            return folder
        for old in CACHE.glob(f"{name}-{'?' * 16}*"):
            remove(old)
        unfinished = CACHE / f"{name}-{key}.unfinished"
        unfinished.mkdir()
        build(unfinished)
        unfinished.rename(folder)
    return folder


def remove(folder):
    """An interrupted debootstrap leaves /proc mounted below its folder."""
    mounted = [line.split()[1] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    for path in sorted((path for path in mounted if path.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", path], check=True)
    subprocess.run(["rm", "-rf", "--one-file-system", folder], check=True)


@contextlib.contextmanager
def locked(name):
    """One process at a time builds NAME."""
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
