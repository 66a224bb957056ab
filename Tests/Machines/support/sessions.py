"""People at the machine: sessions of logind, through PAM, on virtual terminals."""


def open_session(machine, user, terminal, kind="tty"):
    """Returns the session's id. `kind` is logind's type."""
    machine.must(
        f"systemd-run --quiet --unit=session-of-{user} -p User={user} -p PAMName=login -p TTYPath=/dev/tty{terminal} "
        f"-p StandardInput=tty -p StandardOutput=journal --setenv=XDG_SESSION_TYPE={kind} sleep infinity"
    )
    find = f"loginctl list-sessions --no-legend | awk '$3 == \"{user}\" {{ print $1 }}'"
    machine.eventually(f'[ -n "$({find})" ]')
    session = machine.must(find).split()[0]
    activate(machine, session)
    return session


def activate(machine, session):
    """Brings a session to the front of the seat."""
    machine.must(f"loginctl activate {session}")
    machine.eventually(f'[ "$(loginctl show-seat seat0 -P ActiveSession)" = {session} ]')
