"""A computer with a TPM."""

import subprocess

from applocker import PROBE, AppLocker


def test_launches_are_held_on_a_computer_with_a_tpm_that_answers(state, folder, seen):
    """AppLocker keeps no key in it; this shows that a test of that could."""
    socket = folder / "tpm.socket"
    (folder / "tpm").mkdir()
    command = ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}/tpm", "--ctrl", f"type=unixio,path={socket}"]
    swtpm = subprocess.Popen([*command, "--terminate"])
    machine = None
    try:
        machine = state.booted(folder, tpm=socket)
        applocker = AppLocker(machine)
        applocker.wait_until_held()
        assert not applocker.can_start(PROBE) and not machine.ran
        random = machine.must("tpm2_getrandom --tcti device:/dev/tpmrm0 --hex 16").strip()
        assert len(random) == 32, random
        seen("booted with a TPM: /dev/tpmrm0 answers tpm2_getrandom, a locked app is denied")
    finally:
        if machine:
            machine.end()
        swtpm.kill()
        swtpm.wait()
