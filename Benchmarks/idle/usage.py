"""What a process has used so far, as the kernel counts it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Usage:
    # Times that a thread went to sleep by itself: each is one wake-up later (proc_pid_status(5)).
    switches: int
    # On a processor, in nanoseconds (schedstat).
    nanoseconds: int
    # Memory that it shares with nobody.
    private_bytes: int

    @staticmethod
    def of(processes):
        """By name, of a dictionary of process numbers."""
        return {name: Usage.one(number) for name, number in processes.items()}

    @staticmethod
    def one(process):
        switches = nanoseconds = 0
        for task in Path(f"/proc/{process}/task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches:"):
                    switches += int(line.split()[1])
            nanoseconds += int((task / "schedstat").read_text().split()[0])
        private = sum(
            int(line.split()[1]) for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            if line.startswith(("Private_Clean:", "Private_Dirty:")))
        return Usage(switches, nanoseconds, private * 1024)
