/// Something that is open for a user and is locked while the user is absent: grants, launches, the vault, sessions.
protocol Relockable: Sendable {
    /// Returns when it is locked; the log and the disk follow.
    func relock(_ absence: Absence) async

    /// When this user last opened or used what is still open, since boot; nil where nothing is.
    func lastUse(by user: UInt32) async -> Duration?
}
