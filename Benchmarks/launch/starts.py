"""fork + execve + wait of a tiny static program, without AppLocker and with it."""

import shutil
import statistics
import subprocess

from applocker import AppLocker
from figures import spread

ROUNDS = 21
LAUNCHES = 1500
# The first launches of a batch find cold caches.
DISCARDED = 100


def time_launches(run, program, count=LAUNCHES, within=()):
    """Median microseconds of one launch. `within`: words that start the launcher in another mount namespace."""
    result = subprocess.run(
        [*map(str, within), str(run.programs["launcher"]), "run", str(count + DISCARDED), str(program)],
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        raise SystemExit(f"Benchmarks/launch: {result.stderr.strip()}")
    return statistics.median(int(line) for line in result.stdout.split()[DISCARDED:]) / 1000


def is_refused(program):
    try:
        subprocess.run([str(program)])
        return False
    except PermissionError:
        return True


def measure(run):
    apps = run.directory / "starts"
    apps.mkdir()
    program, other = apps / "program", apps / "other"
    for copy in (program, other):
        shutil.copy(run.programs["tiny"], copy)

    beside = AppLocker(run, "starts-other")
    with beside:
        beside.set_up(other)
    listed = AppLocker(run, "starts-listed")
    with listed:
        listed.set_up(other, program)

    def with_other_locked():
        with beside:
            if not is_refused(other) or is_refused(program):
                raise SystemExit("Benchmarks/launch: AppLocker does not lock what this case wants locked.")
            return time_launches(run, program)

    def with_this_unlocked():
        with listed:
            listed.command("unlock", program, "--until-locked")
            if not is_refused(other) or is_refused(program):
                raise SystemExit("Benchmarks/launch: AppLocker does not unlock what this case wants unlocked.")
            return time_launches(run, program)

    cases = {
        "none": lambda: time_launches(run, program),
        "again": lambda: time_launches(run, program),
        "other": with_other_locked,
        "unlocked": with_this_unlocked,
    }
    times = {name: [] for name in cases}
    for number in range(rounds := run.rounds(ROUNDS)):
        for name in run.random.sample(list(cases), len(cases)):
            times[name].append(cases[name]())
        run.progress(
            f"  round {number + 1} of {rounds}: " + ", ".join(f"{name} {times[name][-1]:.1f}" for name in cases)
        )

    def add_ratio(name, words, goal):
        ratios = [value / none for value, none in zip(times[name], times["none"], strict=True)]
        run.figures.add(
            f"start_{name}_ratio",
            statistics.median(ratios),
            "ratio",
            words,
            spread=spread(ratios),
            **({"goal": "0.98 to 1.02", "met": lambda value: 0.98 <= value <= 1.02} if goal else {}),
        )

    run.figures.add(
        "start_none_us",
        statistics.median(times["none"]),
        "us",
        "start and end of a tiny program, no AppLocker",
        spread=spread(times["none"]),
    )
    add_ratio("again", "the same measured a second time (the noise)", goal=False)
    add_ratio("other", "AppLocker running, another app locked", goal=True)
    add_ratio("unlocked", "AppLocker running, this app on its list, unlocked", goal=True)
