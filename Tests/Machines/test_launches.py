"""Launches of a locked app, and what ends AppLocker meanwhile."""

import pytest

from applocker import PROBE, SERVICES, AppLocker

# Fewer tries would show little.
MINIMUM = 100


@pytest.mark.short
@pytest.mark.every_kernel
def test_a_launch_is_denied_and_allowed_after_an_unlock(machine, applocker, seen):
    kernel = machine.must("uname -r").strip()
    assert not applocker.can_start(PROBE) and not machine.ran
    denial = applocker.start(PROBE).output
    assert "Operation not permitted" in denial, denial
    assert applocker.with_passcode(f"unlock {PROBE} --for 5m", passcode="wrong horse").status == 1
    assert not applocker.can_start(PROBE)
    applocker.owner(f"unlock {PROBE} --for 5m")
    assert applocker.can_start(PROBE) and machine.ran == ["probe ran"]
    machine.must(f"runuser -u guest -- applocker lock {PROBE}")
    assert not applocker.can_start(PROBE) and len(machine.ran) == 1
    seen(f"kernel {kernel}: denied, denied after a wrong passcode, ran after the right one, denied after the lock")


@pytest.mark.short
def test_an_asked_launch_is_held_and_continues_after_the_passcode(machine, applocker, seen):
    machine.must("mkdir -m 777 /run/asked")
    prompter = "applocker prompt --tty --once --grant this-launch --passcode-fd 3 3< /run/asked/passcode"
    machine.must("mkfifo -m 666 /run/asked/passcode")
    machine.background("exec 4<> /run/asked/passcode; sleep 1000")
    machine.background(f"exec runuser -u guest -- bash -c '{prompter}' > /run/asked/prompter 2>&1")
    machine.eventually("grep -q Ready /run/asked/prompter")
    start = f"{PROBE} /opt/probe/words > /dev/ttyS2; echo $? > /run/asked/status"
    machine.background(f"exec runuser -u guest -- bash -c '{start}'")
    machine.eventually("grep -q 'wants to start' /run/asked/prompter")
    waiting = applocker.read("status")["waitingLaunches"]
    assert waiting == 1 and not machine.ran and machine.run("test -e /run/asked/status").status != 0
    machine.must("echo 'correct horse' > /run/asked/passcode")
    machine.eventually("test -s /run/asked/status")
    assert machine.must("cat /run/asked/status").strip() == "0" and machine.ran == ["probe ran"]
    assert not applocker.can_start(PROBE)
    seen("a launch was held while the prompt asked, continued after the passcode; the next one was denied")


@pytest.mark.parametrize(
    "services, times",
    [
        pytest.param(SERVICES[:1], 20, id="gate", marks=pytest.mark.short),
        pytest.param(SERVICES[1:], 5, id="daemon"),
        pytest.param(SERVICES, 5, id="both"),
    ],
)
def test_no_launch_escapes_while_services_are_killed(machine, applocker, seen, services, times, pytestconfig):
    names = " and ".join(service.removesuffix(".service") for service in services)
    if pytestconfig.option.short:
        times = min(times, 5)
    machine.launch_all_the_time()
    machine.wait_for_tries(10)
    applocker.kill(*services, times=times)
    machine.wait_for_tries(MINIMUM)
    tries = machine.stop_launching()
    applocker.wait_until_held()
    assert not machine.ran, f"{len(machine.ran)} of {tries} launches ran while {names} was killed: {machine.ran[:5]}"
    # What runs is seen.
    applocker.owner(f"unlock {PROBE} --once")
    assert applocker.can_start(PROBE) and len(machine.ran) == 1
    seen(f"{names} killed {times} times: 0 of {tries} launches ran")


@pytest.mark.short
def test_no_launch_escapes_before_or_after_a_power_cut(machine, seen):
    machine.launch_all_the_time()
    before = machine.wait_for_tries(MINIMUM)
    machine.power_cut()
    assert not machine.ran, f"{len(machine.ran)} launches ran around the power cut: {machine.ran[:5]}"
    applocker = AppLocker(machine)
    machine.launch_all_the_time()
    machine.wait_for_tries(MINIMUM)
    after = machine.stop_launching()
    applocker.wait_until_held()
    assert not machine.ran
    # With the same passcode.
    applocker.owner(f"unlock {PROBE} --once")
    assert applocker.can_start(PROBE) and len(machine.ran) == 1
    seen(f"power cut while 4 processes launched: 0 of {before} launches before and of {after} after it ran")
