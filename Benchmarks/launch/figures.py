"""Figures, the table and the line of JSON."""

import json
import statistics


def percentile(values, share):
    """The smallest value that `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))]


def spread(values):
    """Half the distance between the quartiles: how far a typical round is from the median."""
    if len(values) < 4:
        return (max(values) - min(values)) / 2
    quartiles = statistics.quantiles(values, n=4)
    return (quartiles[2] - quartiles[0]) / 2


class Figures:
    def __init__(self):
        self.entries = []
        self.absent = []

    def add(self, name, value, unit, words, goal=None, met=None, spread=None):
        """`goal` is the printed text; `met` returns whether the exact value meets it."""
        self.entries.append((name, value, unit, words, goal, None if goal is None else bool(met(value)), spread))

    def leave_out(self, what, why):
        self.absent.append(f"NOT MEASURED: {what}: {why}")

    def print(self):
        rows = [("", "value", "±", "unit", "goal", "")]
        for _, value, unit, words, goal, met, spread in self.entries:
            deviation = "" if spread is None else rounded(spread, value)
            rows.append(
                (words, rounded(value), deviation, unit, goal or "", "" if met is None else "met" if met else "MISSED")
            )
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        print()
        for row in rows:
            line = "  ".join(
                text.ljust(width) if column in (0, 3, 4, 5) else text.rjust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            )
            print(line.rstrip())
        print()
        for line in self.absent:
            print(line)
        print(
            json.dumps(
                {
                    name: {"value": round(value, 4), "unit": unit, "goal": goal, "met": met}
                    for name, value, unit, _, goal, met, _ in self.entries
                }
            ),
            flush=True,
        )


def rounded(value, like=None):
    size = abs(value if like is None else like)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.3f}"
