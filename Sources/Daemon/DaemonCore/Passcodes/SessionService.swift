public import ControlAPI
import Policy

/// Management sessions, which the owner's passcode opens for a limited time.
public actor SessionService: Relockable {
    static let lifetime = Duration.seconds(900)
    static let idleLimit = Duration.seconds(300)
    /// Sessions that may be open at a time; the oldest ends when one more is opened.
    static let maximumOpen = 64

    private struct Session {
        var user: UInt32
        var opened: Duration
        var used: Duration
    }

    private let time: any TimeSource
    private var sessions: [String: Session] = [:]

    private let lockGenerations: LockGenerations
    private let changes: StateChanges

    init(time: any TimeSource, lockGenerations: LockGenerations, changes: StateChanges) {
        self.time = time
        self.lockGenerations = lockGenerations
        self.changes = changes
    }

    /// - Parameter generation: from before the passcode was checked.
    /// - Throws: `ControlError` with `busy` where everything was locked since.
    func open(for peer: ControlPeer, since generation: LockGeneration? = nil) throws -> SessionReport {
        if let generation { try lockGenerations.check(generation) }
        defer { changes.mark() }
        let now = time.elapsed()
        sessions = sessions.filter { Self.isOpen($0.value, at: now) }
        if sessions.count >= Self.maximumOpen, let oldest = sessions.min(by: { $0.value.opened < $1.value.opened }) {
            sessions[oldest.key] = nil
        }
        var generator = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in
            let word = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
        sessions[token] = Session(user: peer.user, opened: now, used: now)
        return SessionReport(
            token: token, expiresInSeconds: Int(Self.lifetime.components.seconds),
            idleSeconds: Int(Self.idleLimit.components.seconds))
    }

    /// - Throws: `ControlError` with `sessionNeeded` unless the token is of an open session of this user.
    public func require(_ token: String?, of peer: ControlPeer) throws {
        let now = time.elapsed()
        guard let token, var session = sessions[token], session.user == peer.user, Self.isOpen(session, at: now) else {
            throw ControlError(
                .sessionNeeded, "This changes what is protected and needs the owner's passcode. Open a session first.")
        }
        session.used = now
        sessions[token] = session
    }

    public func end(_ token: String?) {
        if let token { sessions[token] = nil }
        changes.mark()
    }

    /// - Parameter user: nil for everybody. The superuser's sessions end with those of any user.
    public func endAll(of user: UInt32? = nil) {
        sessions = sessions.filter { user != nil && $0.value.user != user && $0.value.user != 0 }
        changes.mark()
    }

    func relock(_ absence: Absence) { endAll(of: absence.user) }

    /// When this user last used an open session, since boot; nil where there is none.
    func lastUse(by user: UInt32) -> Duration? {
        let now = time.elapsed()
        return sessions.values.filter { ($0.user == user || $0.user == 0) && Self.isOpen($0, at: now) }
            .map(\.used).max()
    }

    private static func isOpen(_ session: Session, at now: Duration) -> Bool {
        now - session.opened < lifetime && now - session.used < idleLimit && now >= session.used
    }
}
