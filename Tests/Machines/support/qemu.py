"""One QEMU process: its command line, its control connection (QMP), and its end."""

import json
import pathlib
import re
import socket
import subprocess
import tempfile
import time

from cache import MACHINES, cached, digest

PROGRAM = "qemu-system-x86_64"
MEGABYTES = 1024
# Software emulation; nested virtualisation is rarely available, and slower than none at all on some hosts.
EMULATION = "-accel tcg,thread=multi,tb-size=1024 -cpu max,-la57 -smp 2 -machine q35,vmport=off".split()
# The emulated counters of the processors are not synchronised with each other.
CLOCK = "tsc=unstable clocksource=hpet no_timer_check random.trust_cpu=on"
PARAMETERS = f"console=ttyS0 quiet {CLOCK} mitigations=off init_on_alloc=0 noresume net.ifnames=0"


class QemuError(Exception):
    pass


def qemu_version():
    return subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]


def lid_table():
    """A laptop's lid, as a table that the firmware passes on."""
    source = MACHINES / "lid.asl"

    def compile_table(folder):
        command = ["iasl", "-p", folder / "lid", source]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"iasl failed:\n{result.stdout}{result.stderr}")

    return cached("lid", digest(source, pathlib.Path(__file__)), compile_table) / "lid.aml"


class Qemu:
    """`folder` has the sockets and what the serial lines print: `console`, and `ran`, where locked apps write."""

    def __init__(self, folder, kernel, disk, packages, *, saved=None, tpm=None):
        self.folder = folder
        # The names of QEMU's events, such as SUSPEND.
        self.events = []
        # A socket's path has at most 107 bytes.
        self.sockets = tempfile.TemporaryDirectory(prefix="machine-")
        sockets = {name: pathlib.Path(self.sockets.name, name) for name in ("qmp", "shell")}
        command = [
            # It ends with the tests, however they end.
            *("setpriv", "--pdeathsig", "KILL", PROGRAM, *EMULATION, "-m", str(MEGABYTES)),
            *"-nodefaults -no-user-config -display none".split(),
            *("-kernel", kernel.image, "-initrd", kernel.initrd),
            *("-append", f"{PARAMETERS} {kernel.parameters}"),
            *("-acpitable", f"file={lid_table()}"),
            *(
                "-drive",
                f"if=none,id=root,format=qcow2,cache=unsafe,file={disk}",
                "-device",
                "virtio-blk-pci,drive=root",
            ),
            *("-drive", f"if=none,id=packages,format=raw,readonly=on,file={packages}"),
            *("-device", "virtio-blk-pci,drive=packages"),
            *("-chardev", f"file,id=console,append=on,path={folder}/console", "-device", "isa-serial,chardev=console"),
            *("-chardev", f"socket,id=shell,server=on,wait=off,path={sockets['shell']}"),
            *("-device", "isa-serial,chardev=shell"),
            *("-chardev", f"file,id=ran,append=on,path={folder}/ran", "-device", "isa-serial,chardev=ran"),
            *("-qmp", f"unix:{sockets['qmp']},server=on,wait=off"),
        ]
        if tpm:
            command += ["-chardev", f"socket,id=tpm,path={tpm}", "-tpmdev", "emulator,id=tpm,chardev=tpm"]
            command += ["-device", "tpm-tis,tpmdev=tpm"]
        if saved:
            command += ["-incoming", "defer"]
        with open(folder / "qemu.log", "a") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.shell_socket = self.connect(sockets["shell"])
            self.qmp = self.connect(sockets["qmp"]).makefile("rw")
            self.greeting = json.loads(self.qmp.readline())
            self.call("qmp_capabilities")
            if saved:
                self.call("migrate-incoming", uri=f"exec:cat {saved}")
                # It was stopped when it was saved.
                self.wait_for_status("paused", 60)
                self.call("cont")
        except BaseException:
            self.kill()
            raise

    def connect(self, path):
        end = time.monotonic() + 20
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(path))
            except OSError as error:
                connection.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    log = (self.folder / "qemu.log").read_text()
                    raise QemuError(f"QEMU does not answer: {log[-2000:]}") from error
                time.sleep(0.02)
            else:
                return connection

    def call(self, command, **arguments):
        """The answer of a QMP command. Arguments are named with _ for -."""
        words = {name.replace("_", "-"): value for name, value in arguments.items()}
        self.qmp.write(json.dumps({"execute": command, "arguments": words}) + "\n")
        self.qmp.flush()
        for line in self.qmp:
            answer = json.loads(line)
            if "event" in answer:
                self.events.append(answer["event"])
            if "error" in answer:
                raise QemuError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise QemuError(f"{command}: QEMU has ended")

    @property
    def status(self):
        return self.call("query-status")["status"]

    def wait_for_status(self, status, seconds):
        end = time.monotonic() + seconds
        while (last := self.status) != status:
            if time.monotonic() > end:
                raise QemuError(f"the machine is {last}, not {status}, after {seconds} s")
            time.sleep(0.02)

    def wait_for_event(self, name, seconds):
        """Waits for an event that has not been waited for."""
        end = time.monotonic() + seconds
        while name not in self.events:
            status = self.status
            if time.monotonic() > end:
                raise QemuError(f"no event {name} after {seconds} s; the machine is {status}")
            time.sleep(0.02)
        self.events.remove(name)

    def save(self, file):
        """Stops the machine and writes its memory and devices to `file`."""
        self.call("stop")
        self.call("migrate-set-parameters", max_bandwidth=1 << 33)
        self.call("migrate", uri=f"exec:cat > {file}")
        end = time.monotonic() + 120
        while (status := self.call("query-migrate").get("status")) != "completed":
            if status == "failed" or time.monotonic() > end:
                raise QemuError(f"saving the machine: {status}")
            time.sleep(0.1)

    def quit(self):
        """Ends QEMU, which the machine sees as a power cut."""
        try:
            self.call("quit")
            self.process.wait(20)
        except (QemuError, OSError, ValueError, subprocess.TimeoutExpired):
            self.kill()
        self.close()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self):
        self.shell_socket.close()
        self.qmp.close()
        self.sockets.cleanup()


def create_overlay(file, backing, form):
    command = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", form, "-b", backing, file]
    subprocess.run(command, check=True)
    return file


def printable(text):
    return re.sub(r"[^\x20-\x7e\n]", "", text)
