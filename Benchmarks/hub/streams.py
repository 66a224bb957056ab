"""Server-sent events: deliveries a second, processor time of each, latency, and memory of idle streams."""

import json
import os
import statistics
import subprocess
import time

from figures import spread
from processes import read_line, start, stop
from servers import Hub, Nchan

# Subscribers, messages, publishers, messages a second (0: as fast as possible), rounds.
AS_FAST = [(1, 4_000, 16, 0), (100, 3_000, 16, 0), (1_000, 400, 16, 0), (10_000, 40, 16, 0)]
AT_A_RATE = [(1, 1_000, 1, 500), (1_000, 200, 1, 40)]
ROUNDS = 7
MARK = "data: {"
IDLE_STREAMS = 5_000


def measure(run):
    contenders = [Hub]
    if Nchan.missing():
        run.figures.leave_out("nginx with nchan", Nchan.missing())
    else:
        contenders.append(Nchan)
    for subscribers, messages, publishers, rate in AS_FAST:
        results = {kind: [] for kind in contenders}
        for _ in range(run.rounds(ROUNDS)):
            for kind in run.random.sample(contenders, len(contenders)):
                results[kind].append(fan_out(run, kind, subscribers, messages, publishers, rate))
            run.progress(
                f"  {subscribers} subscribers: "
                + ", ".join(f"{kind.name} {results[kind][-1]['rate']:,.0f}/s" for kind in contenders)
            )
        report_speed(run, subscribers, results)
    for subscribers, messages, publishers, rate in AT_A_RATE:
        results = {kind: [] for kind in contenders}
        for _ in range(run.rounds(ROUNDS)):
            for kind in run.random.sample(contenders, len(contenders)):
                results[kind].append(fan_out(run, kind, subscribers, messages, publishers, rate))
            run.progress(
                f"  {subscribers} subscribers, {rate}/s: "
                + ", ".join(f"{kind.name} p99 {results[kind][-1]['p99']:.2f} ms" for kind in contenders)
            )
        report_latency(run, subscribers, rate, results)


def fan_out(run, kind, subscribers, messages, publishers, rate):
    with kind(run) as server:
        subscribe, publish = run.directory / "subscribe", run.directory / "publish"
        subscribe.write_bytes(server.subscription())
        publish.write_bytes(server.requests(messages))
        client = start(
            [run.client, "127.0.0.1", server.port, subscribers, messages, publishers, rate, subscribe, publish, MARK],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        try:
            if read_line(client.stdout, 130) != "READY":
                raise SystemExit(f"Benchmarks/hub: {kind.name}: {client.stderr.read().decode().strip()}")
            before, _ = server.usage()
            result = read_line(client.stdout, 130)
            after, _ = server.usage()
            if result is None:
                raise SystemExit(f"Benchmarks/hub: {kind.name}: {client.stderr.read().decode().strip()}")
        finally:
            stop(client)
    figures = json.loads(result)
    if figures["deliveries"] != subscribers * messages:
        raise SystemExit(f"Benchmarks/hub: {kind.name} delivered {figures['deliveries']}.")
    return {
        **figures,
        "rate": figures["deliveries"] / figures["seconds"],
        "processor": (after - before) / figures["deliveries"] * 1e6,
    }


def report_speed(run, subscribers, results):
    for kind, rounds in results.items():
        key = f"{'hub' if kind is Hub else 'nchan'}_{subscribers}"
        rates = [one["rate"] for one in rounds]
        run.figures.add(
            f"{key}_deliveries",
            statistics.median(rates),
            "per second",
            f"{subscribers} subscribers, as fast as possible: {kind.name}",
            spread=spread(rates),
        )
        run.figures.add(
            f"{key}_processor",
            statistics.median(one["processor"] for one in rounds),
            "us",
            "  processor time for a delivery",
        )
    if Nchan in results:
        ratios = [hub["rate"] / nchan["rate"] for hub, nchan in zip(results[Hub], results[Nchan], strict=True)]
        has_goal = subscribers in (100, 1_000)
        run.figures.add(
            f"deliveries_{subscribers}_ratio",
            statistics.median(ratios),
            "ratio",
            f"  deliveries a second beside nchan's, {subscribers} subscribers",
            ">= 1" if has_goal else None,
            (lambda value: value >= 1) if has_goal else None,
            spread(ratios),
        )


def report_latency(run, subscribers, rate, results):
    for share in ("p50", "p99"):
        for kind, rounds in results.items():
            values = [one[share] for one in rounds]
            run.figures.add(
                f"{'hub' if kind is Hub else 'nchan'}_{subscribers}_{share}",
                statistics.median(values),
                "ms",
                f"{subscribers} subscribers, {rate} messages a second, {share}: {kind.name}",
                spread=spread(values),
            )
        if Nchan in results:
            ratios = [hub[share] / nchan[share] for hub, nchan in zip(results[Hub], results[Nchan], strict=True)]
            has_goal = (subscribers, share) == (1_000, "p99")
            run.figures.add(
                f"latency_{subscribers}_{share}_ratio",
                statistics.median(ratios),
                "ratio",
                f"  beside nchan's, {share}",
                "<= 1" if has_goal else None,
                (lambda value: value <= 1) if has_goal else None,
                spread(ratios),
            )


def measure_memory(run):
    """Resident memory of each server without subscribers, and the increase by each idle stream."""
    for kind in (Hub, *([] if Nchan.missing() else [Nchan])):
        with kind(run) as server:
            time.sleep(1)
            _, idle = server.usage()
            subscribe, publish = run.directory / "subscribe", run.directory / "publish"
            subscribe.write_bytes(server.subscription())
            publish.write_bytes(server.requests(1))
            client = start(
                [run.client, "127.0.0.1", server.port, IDLE_STREAMS, 1, 1, 0, subscribe, publish, MARK],
                env={**os.environ, "FANOUT_HOLD": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
            try:
                lines = [read_line(client.stdout, 130), read_line(client.stdout, 130)]
                if lines != ["READY", "HELD"]:
                    raise SystemExit(f"Benchmarks/hub: {kind.name} did not hold {IDLE_STREAMS} streams.")
                time.sleep(2)
                _, held = server.usage()
            finally:
                stop(client)
        key = "hub" if kind is Hub else "nchan"
        run.figures.add(f"{key}_idle", idle / 1e6, "MB", f"{kind.name}: resident memory, without connections")
        is_ours = kind is Hub
        run.figures.add(
            f"{key}_stream",
            (held - idle) / IDLE_STREAMS / 1e3,
            "kB",
            f"  for each of {IDLE_STREAMS} idle streams",
            "< 20" if is_ours else None,
            (lambda value: value < 20) if is_ours else None,
        )
