"""A virtual machine that a test may do anything to."""

import shlex
import time

from qemu import Qemu, create_overlay, printable
from shell import PATIENCE, Shell

BOOT_SECONDS = 240


class Machine:
    """Its disk is an overlay in `folder`, which is removed with it. With `saved` it continues from that state, else it
    boots."""

    def __init__(self, folder, kernel, backing, packages, *, form="qcow2", saved=None, tpm=None):
        self.folder, self.kernel, self.packages, self.tpm = folder, kernel, packages, tpm
        self.disk = create_overlay(folder / "disk.qcow2", backing, form)
        self.boots = 0
        self.start(saved)

    def start(self, saved=None):
        self.qemu = Qemu(self.folder, self.kernel, self.disk, self.packages, saved=saved, tpm=self.tpm)
        self.shell = Shell(self.qemu.shell_socket)
        if not saved:
            self.wait_until_booted()

    def wait_until_booted(self):
        self.boots += 1
        self.shell.wait_until_ready(BOOT_SECONDS)
        # Ends when no unit is starting any more; the status is that of the machine, degraded for example.
        self.run("systemctl is-system-running --wait", BOOT_SECONDS)

    # Commands

    def run(self, command, seconds=PATIENCE):
        return self.shell.run(command, seconds)

    def must(self, command, seconds=PATIENCE):
        """The output of a command that has to succeed."""
        result = self.run(command, seconds)
        assert result.status == 0, f"{command}: it returned {result.status}: {result.output[-3000:]}"
        return result.output

    def as_user(self, user, command, seconds=PATIENCE):
        return self.run(f"runuser -u {user} -- bash -c {shlex.quote(command)}", seconds)

    def eventually(self, command, seconds=PATIENCE):
        """Waits in the machine until a command succeeds."""
        wait = f"until {{ {command}; }} > /dev/null 2>&1; do sleep 0.1; done"
        assert self.run(wait, seconds).status == 0, f"not in {seconds} s: {command}: {self.run(command).output[-3000:]}"

    def background(self, command):
        self.must(f"setsid bash -c {shlex.quote(command)} < /dev/null > /dev/null 2>&1 &")

    # The whole machine

    def power_cut(self):
        """Ends it without a warning, and boots it again."""
        self.qemu.quit()
        self.start()

    def reboot(self):
        self.background("sleep 0.2; systemctl reboot")
        self.wait_until_booted()

    def suspend(self, seconds=PATIENCE):
        """Suspends it to memory."""
        self.background("sleep 0.2; systemctl suspend")
        self.wait_until_suspended(seconds)

    def wait_until_suspended(self, seconds=PATIENCE):
        self.qemu.wait_for_event("SUSPEND", seconds)

    def wake(self):
        if self.qemu.status == "suspended":
            self.qemu.call("system_wakeup")
        self.shell.wait_until_awake(120)

    def end(self):
        self.qemu.quit()

    # What locked apps wrote

    @property
    def ran(self):
        """A line for each start of a locked app, by the app itself and by the process that started it."""
        file = self.folder / "ran"
        return [line for line in printable(file.read_text(errors="replace")).split("\n") if line]

    @property
    def console(self):
        return printable((self.folder / "console").read_text(errors="replace"))

    def begin_tries(self):
        """Processes may launch until /run/machine/launching is removed, and count their tries."""
        self.must("rm -rf /run/machine/tries && mkdir -m 1777 /run/machine/tries && touch /run/machine/launching")

    def launch_all_the_time(self, app="/opt/probe/probe", processes=4):
        self.begin_tries()
        self.must(
            f"for number in {' '.join(map(str, range(processes)))}; do\n"
            f"    setsid runuser -u guest -- /usr/local/lib/machine/launch {app} < /dev/null > /dev/null 2>&1 &\n"
            "done"
        )

    @property
    def tries(self):
        return int(self.must("cat /run/machine/tries/* 2> /dev/null | wc -c"))

    def stop_launching(self):
        """The number of tries."""
        self.must("rm -f /run/machine/launching; while pgrep -f machine/launch > /dev/null; do sleep 0.05; done", 30)
        return self.tries

    def wait_for_tries(self, count, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while (tries := self.tries) < count:
            assert time.monotonic() < end, f"only {tries} tries in {seconds} s"
        return tries
