"""What a restart of the computer and the jobs that run without a login could open."""

from applocker import PROBE, AppLocker

# Starts the app, and copies it to start the copy, as often as it may.
JOB = """#!/bin/bash
trap '' TERM
until [ -w /dev/ttyS2 ]; do sleep 0.01; done
for try in $(seq ${1:-30}); do
    /opt/probe/probe /opt/probe/words > /dev/ttyS2 && echo "started by a job" > /dev/ttyS2
    if cp /opt/probe/probe ~/copy; then
        echo "copied by a job" > /dev/ttyS2
        ~/copy /opt/probe/words > /dev/ttyS2
    fi
    rm -f ~/copy
    echo >> ~/tries
done
"""


def write_job(machine):
    machine.must(f"cat > /home/guest/job <<'END'\n{JOB}END\nchmod 755 /home/guest/job; chown guest: /home/guest/job")


def tries(machine):
    return int(machine.must("cat /home/guest/tries 2> /dev/null | wc -l"))


def test_no_job_starts_or_copies_an_unlocked_app_after_a_reboot(machine, applocker, seen):
    write_job(machine)
    applocker.owner(f"unlock {PROBE} --until-locked")
    assert applocker.can_start(PROBE)
    machine.background(f"sleep 1000 | exec runuser -u guest -- {PROBE}")
    machine.eventually(f"pgrep -f ^{PROBE}")
    machine.must("systemctl stop atd.service; echo '@reboot /home/guest/job' | crontab -u guest -")
    for _ in range(3):
        result = machine.as_user("guest", "cd; echo /home/guest/job | at now")
        assert result.status == 0, result.output
    count = len(machine.ran)
    machine.reboot()
    machine.eventually("! pgrep -f /home/guest/job && [ $(wc -l < /home/guest/tries) -ge 120 ]", 120)
    applocker = AppLocker(machine)
    applocker.wait_until_held()
    escapes = machine.ran[count:]
    assert not escapes, f"of {tries(machine)} tries by jobs: {escapes[:5]}"
    assert not applocker.can_start(PROBE)
    marked, logins, cron = (
        int(machine.must(f"systemctl show -P ActiveEnterTimestampMonotonic {unit}"))
        for unit in ("applockerd.service", "systemd-user-sessions.service", "cron.service")
    )
    assert marked < logins and marked < cron
    seen(
        f"reboot with an unlocked app: 0 of {tries(machine)} tries by an @reboot job and 3 overdue at jobs started or "
        f"copied it; apps were locked {(logins - marked) / 1000:.0f} ms before logins"
    )


def test_no_job_starts_a_locked_app_while_the_computer_shuts_down(machine, seen):
    # The job ignores SIGTERM: it runs until systemd sends SIGKILL, which is then soon.
    machine.must("printf '[Manager]\\nDefaultTimeoutStopSec=10s\\n' >> /etc/systemd/system.conf")
    write_job(machine)
    machine.must("echo '@reboot /home/guest/job 1000000' | crontab -u guest -")
    machine.reboot()
    machine.eventually("[ $(wc -l < /home/guest/tries) -ge 30 ]")
    machine.must("crontab -u guest -r")
    machine.reboot()
    count = tries(machine)
    assert not machine.ran, f"{len(machine.ran)} lines of {count} tries by a cron job: {machine.ran[:5]}"
    seen(f"a cron job that runs until the computer is off: 0 of {count} tries started or copied the app")
