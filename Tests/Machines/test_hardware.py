"""What depends on the kernel's version or on devices."""

import subprocess

import pytest

from applocker import AppLocker

# In a user namespace of its own, an ordinary user mounts an overlay over the app's directory and starts it from there.
OVERLAY = """
mkdir -p /tmp/lower /tmp/merged
unshare -rm bash -c '
    mount -t overlay overlay -o lowerdir=/opt/probe:/tmp/lower /tmp/merged || exit 99
    /tmp/merged/probe /tmp/merged/words > /dev/ttyS2'
"""


@pytest.mark.every_kernel
def test_doctor_reports_whether_an_overlay_of_a_user_evades(machine, applocker, seen):
    result = machine.as_user("guest", OVERLAY)
    assert result.status != 99, f"the overlay can't be mounted: {result.output}"
    escaped = result.status == 0
    assert escaped == bool(machine.ran)
    findings = applocker.read("doctor", user="root")["host"]
    finding = next(finding for finding in findings if finding["id"] == "overlay-escape")
    assert finding["state"] == ("weak" if escaped else "ok"), f"escaped: {escaped}, doctor: {finding}"
    release = machine.must("uname -r").strip()
    if machine.kernel.version >= (6, 12):
        assert not escaped, f"an overlay in a user namespace evades on {release}"
    machine.must("sysctl -q -w kernel.unprivileged_userns_clone=0")
    ran = len(machine.ran)
    assert machine.as_user("guest", OVERLAY).status != 0 and len(machine.ran) == ran
    outcome = "RAN, as doctor reports (WEAK)" if escaped else "was held, as doctor reports"
    seen(f"kernel {release}: a locked app under a user's overlay {outcome}; without user namespaces it is held")


def test_a_tpm_answers(state, folder, seen):
    """AppLocker keeps no key in it yet; this shows that a test can."""
    socket = folder / "tpm.socket"
    (folder / "tpm").mkdir()
    command = ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}/tpm", "--ctrl", f"type=unixio,path={socket}"]
    swtpm = subprocess.Popen([*command, "--terminate"])
    machine = None
    try:
        machine = state.booted(folder, tpm=socket)
        AppLocker(machine).wait_until_held()
        random = machine.must("tpm2_getrandom --tcti device:/dev/tpmrm0 --hex 16").strip()
        assert len(random) == 32
        seen("/dev/tpmrm0 answers tpm2_getrandom; AppLocker holds launches after a boot with a TPM")
    finally:
        if machine:
            machine.end()
        swtpm.kill()
        swtpm.wait()
