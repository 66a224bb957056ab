"""Suspend to memory, with logind, the kernel and a machine that really stops."""

import pytest

from applocker import SECOND
from sessions import open_session

PROMPT = "/run/prompt"


@pytest.mark.short
def test_a_suspend_ends_grants_closes_the_vault_and_denies_what_asks(machine, applocker, seen, repetition):
    """Each in a machine of its own: after a wake the emulated one can't be suspended again."""
    open_session(machine, "guest", 3)
    delays = machine.must("systemd-inhibit --list --no-legend --no-pager | grep AppLocker")
    assert delays.count("delay") == 2, f"logind grants no delay: {delays}"
    applocker.unlock_all()
    ran = len(machine.ran)
    ask(machine)
    machine.suspend()
    machine.wake()
    applocker.expect_all_locked("the computer was suspended")
    machine.eventually(f"test -s {PROMPT}/status")
    assert machine.must(f"cat {PROMPT}/status").strip() != "0", "the launch that asked was allowed"
    assert len(machine.ran) == ran, f"a locked app ran: {machine.ran[ran:]}"
    sentences = applocker.log()
    assert any("the computer is going to sleep" in sentence for sentence in sentences), sentences
    switches = [sentence for sentence in sentences if "another user's session" in sentence]
    assert not switches, f"the suspend is in the log as a switch of users: {switches}"
    seen(
        f"suspend {repetition} with a grant, an open vault and a prompt: the grant had ended, the vault was closed, "
        "the launch that asked was denied, nothing ran, the log has no switch of users"
    )


def ask(machine):
    """A terminal's prompt asks for the passcode of the second app."""
    machine.must(f"mkdir -m 777 {PROMPT}; mkfifo -m 666 {PROMPT}/keys")
    prompter = f"script -qfec 'applocker prompt --tty' {PROMPT}/screen < {PROMPT}/keys > /dev/null"
    machine.background(f'exec 4<> {PROMPT}/keys; exec runuser -u guest -- bash -c "{prompter}"')
    machine.eventually(f"grep -q Ready {PROMPT}/screen")
    start = f"{SECOND} /opt/second/words > /dev/ttyS2 2> /dev/null; echo $? > {PROMPT}/status"
    machine.background(f"exec runuser -u guest -- bash -c '{start}'")
    machine.eventually(f"grep -q 'Passcode (' {PROMPT}/screen")
