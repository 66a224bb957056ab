import Policy

// For the log. Whole sentences, as catalogues translate them.

extension GrantScope {
    func sentence(of app: String) -> String {
        switch self {
        case .duration(let duration): "\(app) was unlocked for \(duration.text)."
        case .thisLaunch: "\(app) was unlocked for one launch."
        case .untilLocked: "\(app) was unlocked until it is locked."
        }
    }
}

extension GrantEndReason {
    func sentence(of app: String) -> String {
        switch self {
        case .expired: "\(app) is locked again: the time is over."
        case .launchUsed: "\(app) is locked again: its one launch was used."
        case .locked: "\(app) was locked."
        case .appRemoved: "\(app) is not unlocked any more: it was removed from the list."
        case .replaced: "\(app) was unlocked again."
        case .screenLocked: "\(app) is locked again: the screen was locked."
        case .sleep: "\(app) is locked again: the computer is going to sleep."
        case .inactivity: "\(app) is locked again: the computer was idle."
        case .userSwitched: "\(app) is locked again: another user's session became active."
        case .loggedOut: "\(app) is locked again: the session ended."
        case .lidClosed: "\(app) is locked again: the lid was closed."
        case .shutdown: "\(app) is locked again: the computer is shutting down."
        }
    }
}
