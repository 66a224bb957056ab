/// What a launch is judged by, besides the policy and the time.
public struct LaunchFacts: Hashable, Sendable {
    public let app: AppID
    public let uid: UInt32
    public let isRoot: Bool
    /// Somebody can be asked: a prompter of that user, or a paired phone that answers.
    public let hasPrompter: Bool
    /// Launches of that user that are already held, this one left out.
    public let waitingForUser: Int
    /// Of the user whose prompter is asked.
    public let lockout: LockoutLadder
    /// A paired phone receives the launch and may approve it, which takes no passcode.
    public let phoneReceivesPrompts: Bool

    public init(
        app: AppID, uid: UInt32, isRoot: Bool, hasPrompter: Bool, waitingForUser: Int, lockout: LockoutLadder,
        phoneReceivesPrompts: Bool = false
    ) {
        self.phoneReceivesPrompts = phoneReceivesPrompts
        self.app = app
        self.uid = uid
        self.isRoot = isRoot
        self.hasPrompter = hasPrompter
        self.waitingForUser = waitingForUser
        self.lockout = lockout
    }
}

public struct Decision: Hashable, Sendable, Codable {
    public enum Verdict: String, Sendable, Codable {
        case allow, ask, deny
    }

    public let verdict: Verdict
    public let reason: Reason

    public init(verdict: Verdict, reason: Reason) {
        self.verdict = verdict
        self.reason = reason
    }
}

/// Why a launch was allowed, held or denied, or why an app was unlocked. The raw values are stored and sent: they
/// never change.
public enum Reason: String, Sendable, Codable, CaseIterable, CustomStringConvertible {
    // Allowed without asking.
    case notLocked, monitoringOff, outsideSchedule, granted, grantedOnce, rootExempt
    // Asked.
    case locked
    // Denied without asking.
    case lockedOut, tooManyWaiting, nobodyToAsk
    // Sleep, a locked screen or inactivity came before an answer.
    case relocked
    // How asking ended.
    case passcodeEntered = "passcodeGiven"
    case approvedRemotely, deniedRemotely, cancelled, noAnswer, prompterGone, launcherGone
    // An answer that unlocked the app too, instead of `passcodeEntered` and `approvedRemotely`. Statistics count that
    // unlock, and not the launch.
    case unlockedByPasscode, unlockedRemotely
    // What follows an answer, and is no unlock of its own.
    case restarted, extended

    /// One sentence for people.
    public var description: String {
        switch self {
        case .notLocked: "The app is not on the list of locked apps."
        case .monitoringOff: "Monitoring is turned off."
        case .outsideSchedule: "The app's schedule unlocks it at this time."
        case .granted: "The app is unlocked."
        case .grantedOnce: "The app was unlocked for this launch."
        case .rootExempt: "root is exempt by a setting."
        case .locked: "The app is locked and needs the passcode."
        case .lockedOut: "Too many wrong passcodes were entered, so this user is locked out for a while."
        case .tooManyWaiting: "Too many launches of this user are already waiting for an answer."
        case .nobodyToAsk: "The app is locked, and no prompter or phone is connected."
        case .relocked: "Everything was locked before an answer."
        case .passcodeEntered: "The correct passcode was entered."
        case .approvedRemotely: "The owner approved the launch from another device."
        case .deniedRemotely: "The owner denied the launch from another device."
        case .cancelled: "The prompt was cancelled."
        case .noAnswer: "Nobody answered the prompt in time."
        case .prompterGone: "The prompter disconnected before an answer."
        case .launcherGone: "The program ended before an answer."
        case .unlockedByPasscode: "The correct passcode unlocked the app."
        case .unlockedRemotely: "The owner unlocked the app from another device."
        case .restarted: "The prompter started the app again after the answer."
        case .extended: "The app stays unlocked for longer."
        }
    }
}
