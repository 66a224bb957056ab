"""The requirements of the run, the small C programs, and a line about the machine."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "programs"


def requirements(root, build):
    """What is missing, in one sentence, or None."""
    if os.geteuid() != 0:
        return "holding launches needs root; run it as root, for example with sudo."
    if not shutil.which("cc"):
        return "a C compiler (cc) is missing; install one, for example the package gcc."
    for name in ("applocker", "applockerd", "applocker-gate"):
        if not os.access(build / name, os.X_OK):
            return (
                f"{build}/{name} is missing; run `make build` in {root} first, or name another directory with --build."
            )
    return None


def programs(directory):
    """Compiles the small programs; returns a dictionary of paths. The window watcher is absent without Xlib."""
    place = directory / "programs"
    place.mkdir()
    flags = {"tiny": ["-static"], "launcher": [], "responder": [], "started": ["-static"], "window-watch": ["-lX11"]}
    built = {}
    for name, more in flags.items():
        command = ["cc", "-O2", "-o", place / name, SOURCES / f"{name}.c", *more]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if result.returncode == 0:
            built[name] = place / name
        elif name != "window-watch":
            raise SystemExit(f"Benchmarks/launch: {name}.c does not compile: {result.stderr.strip()}")
    return built


def describe_machine(run):
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 1_048_576
    kind = run.build.name
    return (
        f"Linux {platform.release()}, {os.cpu_count()} processors ({model}), {memory} GiB; "
        f"programs from a {kind} build; "
        f"load {run.load_before:.1f} before the run"
        + (": NOT A QUIET MACHINE, expect wide figures" if run.load_before > 0.5 else "")
        + ("; QUICK: too few rounds to publish" if run.is_quick else "")
    )
