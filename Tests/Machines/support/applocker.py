"""AppLocker in a machine, as its users use it."""

import json
import shlex

from shell import PATIENCE

PASSCODE = "correct horse"
PROBE, SECOND = "/opt/probe/probe", "/opt/second/second"
SERVICES = ("applocker-gate.service", "applockerd.service")
IS_HELD = 'applocker status --json | grep -q \'"protection" *: *"held"\''


class AppLocker:
    def __init__(self, machine):
        self.machine = machine

    def set_up(self):
        machine = self.machine
        self.wait_until_held()
        machine.must(f"applocker setup --passcode-fd 3 3<<< {shlex.quote(PASSCODE)}")
        self.owner(f"lock {PROBE} {SECOND}")
        assert not self.can_start(PROBE), "a locked app starts"

    def install(self, version="now"):
        """Installs the packages in the machine, or those of the next version. What dpkg printed."""
        self.machine.must("mountpoint -q /packages || mount -o ro /dev/vdb /packages")
        command = f"DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io -i /packages/{version}/*.deb"
        output = self.machine.must(command, 300)
        self.wait_until_held()
        return output

    def owner(self, command, user="guest"):
        """Runs a command that asks for the passcode."""
        result = self.with_passcode(command, user=user)
        assert result.status == 0, f"applocker {command}: {result.output}"
        return result.output

    def with_passcode(self, command, passcode=PASSCODE, user="guest"):
        return self.machine.as_user(user, f"applocker {command} --passcode-fd 3 3<<< {shlex.quote(passcode)}")

    def read(self, command, user="guest"):
        """What a command prints as JSON."""
        result = self.machine.as_user(user, f"applocker {command} --json 2> /dev/null")
        try:
            return json.loads(result.output)
        except ValueError:
            raise AssertionError(f"applocker {command}: {result.output}") from None

    def wait_until_held(self, seconds=PATIENCE):
        self.machine.eventually(IS_HELD, seconds)

    def can_start(self, app, user="guest"):
        """Whether an app starts. What it prints goes where `Machine.ran` reads it."""
        return self.start(app, user).status == 0

    def start(self, app, user="guest"):
        """Starts an app and waits for its end."""
        return self.machine.as_user(user, f"{app} {app.rpartition('/')[0]}/words > /dev/ttyS2")

    def unlock_all(self):
        """An app for five minutes, and the vault."""
        self.owner(f"unlock {PROBE} --for 5m")
        self.owner("vault unlock")
        assert self.can_start(PROBE) and self.read("vault status")["isOpen"]

    def expect_all_locked(self, why):
        assert not self.can_start(PROBE), f"an app starts although {why}"
        assert not self.read("vault status")["isOpen"], f"the vault is open although {why}"

    def log(self, limit=100):
        """The sentences of the activity log, the oldest first."""
        return [event["sentence"] for event in self.read(f"log --limit {limit}", user="root")["events"]]

    def main_process(self, service):
        return int(self.machine.must(f"systemctl show -P MainPID {service}"))

    def kill(self, *services, times=1):
        """Kills services, and waits until others run in their place, `times` times."""
        names = " ".join(services)
        self.machine.must(
            f"for time in $(seq {times}); do\n"
            f"    for service in {names}; do systemctl show -P MainPID $service; done > /run/machine/killed\n"
            "    kill -9 $(cat /run/machine/killed) || exit 1\n"
            f"    for service in {names}; do\n"
            "        until process=$(systemctl show -P MainPID $service) && [ $process != 0 ] \\\n"
            "            && ! grep -qx $process /run/machine/killed && systemctl is-active --quiet $service; do\n"
            "            sleep 0.05\n"
            "        done\n"
            "    done\n"
            "    sleep 0.3\n"
            "done",
            60 * times,
        )
