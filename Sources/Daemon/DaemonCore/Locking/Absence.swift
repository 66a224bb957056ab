import Policy

/// What shows that a user, or everybody, has left the computer. Everything that is open for them is then locked.
enum Absence: Equatable, Sendable {
    case sleep, shutdown, lidClosed
    case screenLocked(user: UInt32)
    case userSwitched(user: UInt32)
    case loggedOut(user: UInt32)
    case inactivity(user: UInt32, seconds: Int)

    /// Nil: everybody.
    var user: UInt32? {
        switch self {
        case .sleep, .shutdown, .lidClosed: nil
        case .screenLocked(let user), .userSwitched(let user), .loggedOut(let user), .inactivity(let user, _): user
        }
    }

    /// Why grants end with it.
    var reason: GrantEndReason {
        switch self {
        case .sleep: .sleep
        case .shutdown: .shutdown
        case .lidClosed: .lidClosed
        case .screenLocked: .screenLocked
        case .userSwitched: .userSwitched
        case .loggedOut: .loggedOut
        case .inactivity: .inactivity
        }
    }

    /// For the log. Whole sentences, as catalogues translate them.
    var sentence: String {
        switch self {
        case .sleep: "Everything was locked: the computer is going to sleep."
        case .shutdown: "Everything was locked: the computer is shutting down."
        case .lidClosed: "Everything was locked: the lid was closed."
        case .screenLocked(let user): "All apps and the vault of user \(user) were locked: the screen was locked."
        case .userSwitched(let user):
            "All apps and the vault of user \(user) were locked: another user's session became active."
        case .loggedOut(let user): "All apps and the vault of user \(user) were locked: the session ended."
        case .inactivity(let user, let seconds):
            "All apps and the vault of user \(user) were locked: the computer was idle for \(seconds) seconds."
        }
    }

    /// For the log, where the vault was open.
    var vaultSentence: String {
        switch self {
        case .sleep: "The vault was locked: the computer is going to sleep."
        case .shutdown: "The vault was locked: the computer is shutting down."
        case .lidClosed: "The vault was locked: the lid was closed."
        case .screenLocked: "The vault was locked: the screen was locked."
        case .userSwitched: "The vault was locked: another user's session became active."
        case .loggedOut: "The vault was locked: the session ended."
        case .inactivity(_, let seconds): "The vault was locked: the computer was idle for \(seconds) seconds."
        }
    }
}
