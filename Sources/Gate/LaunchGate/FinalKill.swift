import Glibc

/// The last step of a shutdown: systemd-shutdown has taken the place of PID 1 and sends SIGTERM, later SIGKILL, to every
/// process at once. Among them are processes that no service's stop ended, such as jobs that cron started.
enum FinalKill {
    /// How often a gate that was asked to end checks whether it may, in nanoseconds. It delays the shutdown by as much.
    static let interval: UInt64 = 10_000_000

    /// Whether a process could still start or copy a locked app: a process of an ordinary user lives.
    ///
    /// The unit's file keeps the SIGKILL from the gate.
    static func isNeeded() -> Bool { isUnderway() && ProcessFacts.all().contains(where: isOfOrdinaryUser) }

    /// The kernel's name of a program has at most 15 bytes.
    private static func isUnderway() -> Bool { ProcessFacts.status(1)?.name == Array("systemd-shutdow".utf8) }

    static func isOfOrdinaryUser(_ process: Int32) -> Bool {
        guard let status = ProcessFacts.status(process), status.state != UInt8(ascii: "Z"),
            let users = ProcessFacts.users(process)
        else { return false }
        return users.real != 0 || users.effective != 0
    }
}
