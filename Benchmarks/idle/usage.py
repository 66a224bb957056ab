"""The resources that a process has used so far, as the kernel counts them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Usage:
    # Voluntary context switches: each is followed by a wake-up (proc_pid_status(5)).
    switches: int
    # Time on a processor, in nanoseconds (schedstat).
    nanoseconds: int
    # Private memory.
    private_bytes: int

    @staticmethod
    def of(processes):
        """The usage of each process, by name."""
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
            int(line.split()[1])
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            if line.startswith(("Private_Clean:", "Private_Dirty:"))
        )
        return Usage(switches, nanoseconds, private * 1024)
