"""Suspend to memory, with logind, the kernel and a machine that really stops."""

import pytest

from applocker import PROBE, SECOND
from sessions import open_session

PROMPT = "/run/prompt"


@pytest.mark.short
def test_a_suspend_ends_grants_closes_the_vault_and_denies_what_asks(machine, applocker, seen, pytestconfig):
    times = 20 if pytestconfig.option.long else 2
    open_session(machine, "guest", 3)
    delays = machine.must("systemd-inhibit --list --no-legend --no-pager | grep AppLocker")
    assert delays.count("delay") == 2, f"logind grants no delay: {delays}"
    for number in range(1, times + 1):
        suspend_once(machine, applocker, number)
    sentences = applocker.log(1000)
    sleeps = sum("the computer is going to sleep" in sentence for sentence in sentences)
    assert sleeps >= times, f"{sleeps} of {times} suspends are in the log"
    switches = [sentence for sentence in sentences if "another user's session" in sentence]
    seen(
        f"suspended {times} times with a grant, an open vault and a prompt: each time the grant had ended, the vault "
        "was closed, the launch that asked was denied, nothing ran"
    )
    assert not switches, f"{len(switches)} times after {times} suspends the log has: {switches[0]}"


def suspend_once(machine, applocker, number):
    applocker.owner(f"unlock {PROBE} --for 5m")
    applocker.owner("vault unlock")
    assert applocker.can_start(PROBE) and applocker.read("vault status")["isOpen"]
    ran = len(machine.ran)
    ask(machine)
    machine.suspend()
    assert len(machine.ran) == ran, f"suspend {number}: a locked app ran: {machine.ran[ran:]}"
    machine.wake()
    assert not applocker.can_start(PROBE), f"suspend {number}: the grant is still there"
    assert not applocker.read("vault status")["isOpen"], f"suspend {number}: the vault is still open"
    machine.eventually(f"test -s {PROMPT}/status")
    status = machine.must(f"cat {PROMPT}/status").strip()
    assert status != "0", f"suspend {number}: the launch that asked was allowed"
    assert len(machine.ran) == ran, f"suspend {number}: a locked app ran: {machine.ran[ran:]}"
    machine.must(f"pkill -f '^applocker prompt' || true; rm -rf {PROMPT}")


def ask(machine):
    """A terminal's prompt asks for the passcode of the second app."""
    machine.must(f"mkdir -m 777 {PROMPT}; mkfifo -m 666 {PROMPT}/keys")
    prompter = f"script -qfec 'applocker prompt --tty' {PROMPT}/screen < {PROMPT}/keys > /dev/null"
    machine.background(f'exec 4<> {PROMPT}/keys; exec runuser -u guest -- bash -c "{prompter}"')
    machine.eventually(f"grep -q Ready {PROMPT}/screen")
    start = f"{SECOND} /opt/second/words > /dev/ttyS2 2> /dev/null; echo $? > {PROMPT}/status"
    machine.background(f"exec runuser -u guest -- bash -c '{start}'")
    machine.eventually(f"grep -q 'Passcode (' {PROMPT}/screen")
