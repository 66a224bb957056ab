import ControlAPI
import DesktopSession
import Localization

/// The content of the window at one moment, as texts: derived from the queue, drawn by `PromptWindow`.
struct PromptScene: Equatable {
    enum Mode: Equatable {
        case asking
        /// The passcode was sent; the daemon takes about a second to check it.
        case checking
        /// No passcode is accepted at present.
        case lockedOut
        /// There is only a message to read.
        case notice
    }

    /// The id of the launch's prompt; nil for a notice.
    var prompt: String?
    var mode: Mode
    var name: String
    var icon: String?
    var heading: String
    var requester: String
    var path = ""
    var passcodeHint = ""
    var defaultGrantSeconds = 0
    /// Below the passcode field: why the answer was refused, or how long the pause is.
    var message = ""
    var refusals = 0
    var remaining = ""
    /// 1 at the start of the prompt, 0 when it is denied.
    var remainingFraction = 0.0
    var othersWaiting = ""
    /// Shown above everything else while the screen is being recorded.
    var capture = ""
    var offersThisLaunch = true
    /// Whether the user chooses for how long.
    var offersGrants = true
    /// The title of the button that sends the passcode; the underscore marks its access key.
    var verb = localized("_Unlock")
}

extension PromptQueue {
    /// What to show now; nil if there is nothing.
    func scene(at now: Instant) -> PromptScene? {
        guard let launch = current else { return notice.map(PromptScene.init) }
        let lockout = lockedOutUntil.map { Self.secondsLeft($0, at: now) } ?? 0
        return PromptScene(launch: launch, lockoutSeconds: lockout, others: launches.count - 1, at: now)
    }

    /// Whole seconds until then, rounded up, so that "1 s" is the last value shown.
    static func secondsLeft(_ end: Instant, at now: Instant) -> Int {
        let left = now.duration(to: end).components
        return max(0, Int(left.seconds) + (left.attoseconds > 0 ? 1 : 0))
    }
}

extension PromptScene {
    init(launch: WaitingLaunch, lockoutSeconds: Int, others: Int, at now: PromptQueue.Instant) {
        let report = launch.report
        let left = PromptQueue.secondsLeft(launch.deniedAt, at: now)
        prompt = report.prompt
        name = ShownText.line(report.name)
        icon = report.icon
        heading = localized("\(ShownText.shortened(name)) is locked")
        requester = Self.requester(report)
        path = ShownText.line(report.path)
        passcodeHint = localized(report.hasOwnPasscode ? "Passcode for \(ShownText.shortened(name))" : "Passcode")
        defaultGrantSeconds = report.defaultGrantSeconds
        refusals = launch.refusals
        remaining = localized(left > 0 ? "Denied in \(ShownText.countdown(left))" : "Denied")
        remainingFraction = report.expiresInSeconds > 0 ? min(1, Double(left) / Double(report.expiresInSeconds)) : 0
        othersWaiting =
            others > 0 ? localized(others, one: "\(others) more waiting", other: "\(others) more waiting") : ""
        if launch.isBeingAnswered {
            mode = .checking
            message = ""
        } else if lockoutSeconds > 0 {
            mode = .lockedOut
            message = localized("Too many wrong passcodes. Try again in \(ShownText.countdown(lockoutSeconds)).")
        } else {
            mode = .asking
            message = launch.refusal ?? ""
        }
    }

    init(_ notice: PromptQueue.Notice) {
        self.init(
            prompt: nil, mode: .notice, name: ShownText.line(notice.name), icon: notice.icon,
            heading: localized("\(ShownText.shortened(ShownText.line(notice.name))) did not start"),
            requester: ShownText.line(notice.text))
    }

    private static func requester(_ report: PromptReport) -> String {
        let parent = report.parentName.map(ShownText.line) ?? ""
        guard let user = report.userName.map(ShownText.line) else {
            return localized(
                parent.isEmpty
                    ? "user \(report.user) wants to start it" : "\(parent) (user \(report.user)) wants to start it")
        }
        return localized(parent.isEmpty ? "\(user) wants to start it" : "\(parent) (\(user)) wants to start it")
    }
}

/// Makes foreign text (desktop entries, process names, paths) safe to be shown on one line.
enum ShownText {
    /// The longest text that is laid out, in characters; labels ellipsize what doesn't fit the window.
    static let maximumLength = 512

    static func line(_ text: String) -> String { ShownLine.plain(text, maximumLength: maximumLength) }

    /// At most 40 characters, so that the text after a name always fits.
    static func shortened(_ name: String) -> String { name.count > 40 ? name.prefix(39) + "…" : name }

    /// "58 s", "4 min 10 s" or "1 h 2 min".
    static func countdown(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: localized("\(seconds) s")
        case ..<3600:
            localized(seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds / 60) min \(seconds % 60) s")
        default: localized("\(seconds / 3600) h \(seconds % 3600 / 60) min")
        }
    }
}
