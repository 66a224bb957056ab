"""Real sessions of logind: a locked screen, another user at the seat, the lid."""

import pytest

from applocker import PROBE
from sessions import activate, open_session

CLOSE_LID = "cat /sys/bus/acpi/devices/TEST0001:00/sun"
LID_IS_CLOSED = (
    "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager LidClosed "
    "| grep -q true"
)
LOGIND = "/etc/systemd/logind.conf.d"


def wait_until_locked(applocker, sentence):
    """Waits for the log's sentence, then expects a locked app and a closed vault."""
    applocker.machine.eventually(f"applocker log --limit 20 | grep -F {sentence!r}")
    applocker.expect_all_locked(f"the log has: {sentence}")


def test_a_locked_session_locks_its_users_apps(machine, applocker, seen):
    session = open_session(machine, "guest", 3)
    applocker.unlock_all()
    machine.must(f"loginctl lock-session {session}")
    wait_until_locked(applocker, "the screen was locked")
    seen("loginctl lock-session: the grant ended and the vault was closed")


def test_another_user_at_the_seat_locks_the_apps_of_the_first(machine, applocker, seen):
    first = open_session(machine, "guest", 3)
    second = open_session(machine, "other", 4)
    activate(machine, first)
    applocker.unlock_all()
    ran = len(machine.ran)
    activate(machine, second)
    wait_until_locked(applocker, "another user's session became active")
    assert not applocker.can_start(PROBE, user="other") and len(machine.ran) == ran
    seen("two sessions on tty3 and tty4, the second one activated: the grant ended and the vault was closed")


def test_the_end_of_a_session_locks_its_users_apps(machine, applocker, seen):
    open_session(machine, "guest", 3)
    applocker.unlock_all()
    machine.must("systemctl stop session-of-guest.service")
    wait_until_locked(applocker, "the session ended")
    seen("a session on tty3 ended: the grant ended and the vault was closed")


@pytest.mark.parametrize("action", ["ignore", "suspend"])
def test_a_closed_lid_locks_everything(machine, applocker, seen, cannot, action):
    if machine.run("test -e /sys/bus/acpi/devices/TEST0001:00/sun").status != 0:
        cannot("this kernel does not show the lid's switch")
    settings = f"[Login]\nHandleLidSwitch={action}\nHoldoffTimeoutSec=0\n"
    machine.must(f"mkdir -p {LOGIND}; cat > {LOGIND}/lid.conf <<'END'\n{settings}END")
    machine.must("systemctl restart systemd-logind.service")
    open_session(machine, "guest", 3)
    machine.eventually("status=$(applocker status) && ! echo \"$status\" | grep -q 'notice sleep'")
    assert "UPower reports when the lid closes" in machine.run("applocker doctor").output
    assert machine.run(LID_IS_CLOSED).status != 0, "the lid is closed at the beginning"
    applocker.unlock_all()
    machine.background(f"sleep 0.2; {CLOSE_LID}")
    if action == "suspend":
        machine.wait_until_suspended()
        machine.wake()
        applocker.expect_all_locked("the computer was suspended")
    else:
        machine.eventually(LID_IS_CLOSED)
        wait_until_locked(applocker, "the lid was closed")
    seen(f"lid closed, logind's action is to {action}: the grant ended and the vault was closed")
