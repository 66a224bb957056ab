"""The time of a refused launch, from execve to EPERM, by AppLocker and by a minimal program that can refuse."""

import shutil
import statistics
import subprocess

from applocker import AppLocker
from figures import percentile, spread
from processes import read_line, start, stop

ROUNDS = 21
LAUNCHES = 100
# People don't start locked apps in a tight loop; the daemon writes its log entry before the next launch.
PAUSE = 8_000  # microseconds


def time_denials(run, program):
    """Microseconds of each."""
    result = subprocess.run(
        [str(run.programs["launcher"]), "refused", str(LAUNCHES), str(PAUSE), str(program)],
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        raise SystemExit(f"Benchmarks/launch: {result.stderr.strip()}")
    return [int(line) / 1000 for line in result.stdout.split()]


def measure(run):
    apps = run.directory / "denials"
    apps.mkdir()
    programs = {"applocker": apps / "locked", "responder": apps / "refused"}
    for program in programs.values():
        shutil.copy(run.programs["tiny"], program)
    responder = start([run.programs["responder"], programs["responder"]], stdout=subprocess.PIPE, bufsize=0)
    try:
        if read_line(responder.stdout, 5) != "READY":
            raise SystemExit("Benchmarks/launch: the kernel does not allow the C responder to hold launches.")
        with AppLocker(run, "denials-state") as applocker:
            applocker.set_up(programs["applocker"])
            times = {name: [] for name in programs}
            for number in range(rounds := run.rounds(ROUNDS)):
                for name in run.random.sample(list(programs), len(programs)):
                    times[name].append(time_denials(run, programs[name]))
                run.progress(
                    f"  round {number + 1} of {rounds}: "
                    + ", ".join(f"{name} {statistics.median(values[-1]):.1f}" for name, values in times.items())
                )
    finally:
        stop(responder)

    words = {"applocker": "refused by AppLocker (gate and daemon)", "responder": "refused by a minimal C responder"}
    for name in programs:
        medians = [statistics.median(values) for values in times[name]]
        run.figures.add(
            f"deny_{name}_p50_us",
            statistics.median(medians),
            "us",
            f"{words[name]}, p50",
            spread=spread(medians),
            **({"goal": "< 150", "met": lambda value: value < 150} if name == "applocker" else {}),
        )
        run.figures.add(
            f"deny_{name}_p99_us",
            percentile([value for values in times[name] for value in values], 0.99),
            "us",
            f"{words[name]}, p99",
        )
    ratios = [
        statistics.median(mine) / statistics.median(least)
        for mine, least in zip(times["applocker"], times["responder"], strict=True)
    ]
    run.figures.add(
        "deny_ratio", statistics.median(ratios), "ratio", "AppLocker's p50 to the C responder's", spread=spread(ratios)
    )
