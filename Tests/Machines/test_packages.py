"""An upgrade and a removal of the packages."""

from applocker import PROBE, SERVICES


def test_no_launch_escapes_during_an_upgrade_and_a_removal_opens(machine, applocker, seen):
    applocker.owner("note add Kept - < /etc/hostname")
    machine.launch_all_the_time()
    machine.wait_for_tries(20)
    before = {service: applocker.main_process(service) for service in SERVICES}
    applocker.install("next")
    machine.wait_for_tries(100)
    tries = machine.stop_launching()
    assert not machine.ran, f"{len(machine.ran)} of {tries} launches ran during the upgrade"
    for service, process in before.items():
        assert applocker.main_process(service) != process, f"{service} was not restarted"
    applocker.owner("vault unlock")
    assert "Kept" in machine.as_user("guest", "applocker note list").output
    seen(f"upgrade while 4 processes launched: 0 of {tries} launches ran, the vault has its note")

    removal = machine.must("DEBIAN_FRONTEND=noninteractive dpkg -r applocker", 120)
    assert "can now start" in removal, removal
    assert applocker.can_start(PROBE)
    applocker.install("now")
    assert not applocker.can_start(PROBE)
    applocker.owner("vault unlock")
    assert "Kept" in machine.as_user("guest", "applocker note list").output
    seen("removal warned and opened the app; installed again, it was locked and the vault had its note")
