"""A locked app through an overlay that a user mounts in a user namespace. Before Linux 6.5 the kernel raises no event
for that, and the overlay guard denies it."""

import pytest

from applocker import PROBE

GUARD = "applocker-overlay-guard.service"
# The app, and a copy of what it reads, from an overlay over its directory.
ATTEMPT = """exec unshare --user --map-root-user --mount bash -c '
    mount -t tmpfs layers /mnt && mkdir /mnt/upper /mnt/work /mnt/merged || exit 99
    mount -t overlay o -o lowerdir=/opt/probe,upperdir=/mnt/upper,workdir=/mnt/work,userxattr /mnt/merged || exit 99
    {command}'"""
START = "/mnt/merged/probe /opt/probe/words > /dev/ttyS2"
LAUNCH_ALL_THE_TIME = f"""
    while [ -e /run/machine/launching ]; do
        {START} 2> /dev/null
        printf . >> /run/machine/tries/overlay
    done"""


def attempt(machine, command):
    status = machine.as_user("guest", ATTEMPT.format(command=command)).status
    assert status != 99, "a user can't mount an overlay in a user namespace"
    return status == 0


def needs_guard(machine):
    return machine.kernel.version < (6, 5)


def is_attached(machine):
    return machine.run(f"systemctl is-active --quiet {GUARD} && test -e /sys/fs/bpf/applocker/link").status == 0


@pytest.mark.every_kernel
def test_a_locked_app_is_denied_through_an_overlay_until_it_is_unlocked(machine, applocker, seen):
    assert is_attached(machine) == needs_guard(machine), machine.run(f"systemctl status {GUARD}").output
    assert not attempt(machine, START) and not attempt(machine, "cat /mnt/merged/probe > /dev/null")
    assert attempt(machine, "cat /mnt/merged/words > /dev/null"), "another file of the directory can't be read"
    assert not machine.ran
    applocker.owner(f"unlock {PROBE} --for 5m")
    assert attempt(machine, START) and machine.ran == ["probe ran"]
    machine.must(f"runuser -u guest -- applocker lock {PROBE}")
    assert not attempt(machine, START) and len(machine.ran) == 1
    findings = machine.run("applocker doctor").output
    assert ("AppLocker's overlay guard denies" in findings) == needs_guard(machine), findings
    assert "can start a locked program without a prompt" not in findings
    seen(f"kernel {machine.kernel.release}: an overlay's launch and read were denied; it ran while unlocked")


@pytest.mark.only_kernel("6.1")
def test_the_overlay_guard_stays_while_the_gate_is_killed_and_the_package_upgraded(machine, applocker, seen):
    machine.begin_tries()
    words = ATTEMPT.format(command=LAUNCH_ALL_THE_TIME)
    machine.must(f"cat > /run/machine/overlay <<'END'\n{words}\nEND")
    machine.background("exec runuser -u guest -- bash /run/machine/overlay")
    machine.wait_for_tries(10)
    applocker.kill("applocker-gate.service", times=3)
    machine.must("systemctl restart applocker-gate.service")
    machine.must(f"systemctl reload {GUARD}")
    applocker.install("next")
    machine.must("rm /run/machine/launching")
    tries = machine.tries
    assert not machine.ran, f"{len(machine.ran)} of {tries} launches through an overlay got through"
    assert is_attached(machine)
    seen(f"{tries} launches through an overlay while the gate was killed, restarted and upgraded: none got through")


@pytest.mark.only_kernel("6.1")
def test_the_overlay_guard_ends_with_a_gate_that_is_stopped(machine, applocker, seen):
    applocker.owner("stop --yes")
    machine.eventually(f"! systemctl is-active --quiet {GUARD} && ! test -e /sys/fs/bpf/applocker/link")
    assert attempt(machine, START)
    machine.must("systemctl start applockerd.service")
    applocker.wait_until_held()
    assert is_attached(machine) and not attempt(machine, START)
    machine.must("DEBIAN_FRONTEND=noninteractive dpkg --remove applocker", 300)
    machine.must("test ! -e /sys/fs/bpf/applocker")
    assert attempt(machine, START)
    seen("the overlay guard ended with `applocker stop` and with the package's removal, and came back with a new start")
