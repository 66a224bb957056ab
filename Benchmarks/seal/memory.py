"""Rates in memory compared with OpenSSL's, both by processor time, and the memory that sealing needs."""

import os
import re
import shutil
import statistics
import subprocess

from figures import spread

ROUNDS = 15
SIZE = 64 << 20
CHUNKS = {"64 KiB": 65_536, "256 KiB": 262_144, "1 MiB": 1_048_576}
# Gigabytes a second: 1,000,000,000 bytes.
GIGA = 1e9


def measure(run):
    contenders = {}
    for words, chunk in CHUNKS.items():
        for verb in ("seal", "open"):
            contenders[f"{verb} {words}"] = lambda verb=verb, chunk=chunk: own(run, verb, SIZE, chunk)
    for verb in ("seal", "open"):
        contenders[f"{verb} 4 KiB of content"] = lambda verb=verb: own(run, verb, 4096, 65_536)
    if shutil.which("openssl"):
        contenders["openssl 1 MiB"] = lambda: openssl(1 << 20)
        contenders["openssl 4 KiB"] = lambda: openssl(4096)
    results = run.shuffled(contenders, ROUNDS)

    for words in CHUNKS:
        for verb in ("seal", "open"):
            values = results[f"{verb} {words}"]
            run.figures.add(
                f"{verb}_64mib_chunk_{words.replace(' ', '').lower()}",
                statistics.median(values),
                "GB/s",
                f"{verb} 64 MiB in memory, chunks of {words}",
                spread=spread(values),
            )
    for verb in ("seal", "open"):
        values = results[f"{verb} 4 KiB of content"]
        run.figures.add(
            f"{verb}_4kib", statistics.median(values), "GB/s", f"{verb} 4 KiB in memory", spread=spread(values)
        )
    if "openssl 1 MiB" not in results:
        run.figures.leave_out("openssl speed", "openssl is not installed")
    else:
        for size in ("1 MiB", "4 KiB"):
            values = results[f"openssl {size}"]
            run.figures.add(
                f"openssl_{size.replace(' ', '').lower()}",
                statistics.median(values),
                "GB/s",
                f"openssl speed -evp aes-256-gcm, {size}",
                spread=spread(values),
            )
        for verb in ("seal", "open"):
            ratio(
                run,
                f"{verb}_64mib_to_openssl",
                results[f"{verb} 1 MiB"],
                results["openssl 1 MiB"],
                f"{verb} 64 MiB, chunks of 1 MiB, to openssl's rate",
                ">= 1.3",
                lambda value: value >= 1.3,
            )
            ratio(
                run,
                f"{verb}_4kib_to_openssl",
                results[f"{verb} 4 KiB of content"],
                results["openssl 4 KiB"],
                f"{verb} 4 KiB to openssl's rate",
            )
    if shutil.which("gocryptfs"):
        # It measures five other ciphers each time, which takes long, so it runs only a few times at the end.
        theirs = statistics.median(gocryptfs() for _ in range(3))
        run.figures.add(
            "seal_64mib_to_gocryptfs",
            statistics.median(results["seal 1 MiB"]) / theirs,
            "ratio",
            "seal 64 MiB to gocryptfs -speed, its AES-GCM-256-OpenSSL",
        )
    else:
        run.figures.leave_out("gocryptfs -speed", "gocryptfs is not installed")


def measure_footprint(run):
    size = (1 if run.is_quick else 4) << 30
    process = subprocess.Popen([run.program, "pipe", str(size)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise subprocess.CalledProcessError(status, "seal-speed pipe")
    run.figures.add(
        "memory_sealing",
        usage.ru_maxrss * 1024 / 1e6,
        "MB",
        f"largest resident memory while sealing {size >> 30} GiB",
        "< 64",
        lambda value: value < 64,
    )


def ratio(run, name, ours, theirs, words, goal=None, met=None):
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    run.figures.add(name, statistics.median(ratios), "ratio", words, goal, met, spread=spread(ratios))


def own(run, verb, size, chunk):
    result = subprocess.run(
        [run.program, "memory", verb, str(size), str(chunk), "4"], check=True, capture_output=True, text=True
    )
    return int(result.stdout) / GIGA


def openssl(size):
    result = subprocess.run(
        ["openssl", "speed", "-seconds", "1", "-bytes", str(size), "-evp", "aes-256-gcm"],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(re.search(r"AES-256-GCM\s+([0-9.]+)k", result.stdout).group(1)) * 1000 / GIGA


def gocryptfs():
    result = subprocess.run(["gocryptfs", "-speed"], check=True, capture_output=True, text=True)
    return float(re.search(r"AES-GCM-256-OpenSSL\s+([0-9.]+) MB/s", result.stdout).group(1)) * 1e6 / GIGA
