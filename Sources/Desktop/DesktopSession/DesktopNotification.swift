import ControlAPI
import Localization

/// One notification, before it is adapted to the desktop's server.
struct DesktopNotification: Equatable, Sendable {
    enum Action: String, Sendable, CaseIterable {
        case lockNow = "lock-now"
        case keepOpen = "keep-open"
        case open
        case showLog = "show-log"

        var label: String {
            switch self {
            case .lockNow: localized("Lock now")
            case .keepOpen: localized("Keep \(ClosingNotice.extensionSeconds / 60) Minutes")
            case .open: localized("Open AppLocker")
            case .showLog: localized("Show log")
            }
        }
    }

    /// The levels of the Desktop Notifications specification, "Urgency Levels".
    enum Urgency: UInt8, Sendable {
        case low, normal
        /// Shown until it is closed.
        case critical
    }

    /// A later notification with the same key replaces this one.
    var key: String
    var summary: String
    /// Plain text.
    var body: String
    var icon: String
    var urgency: Urgency
    var actions: [Action]
    /// How long it is shown; nil: the server decides.
    var shown: Duration?
}

extension DesktopNotification {
    /// States that a photo exists, never what it shows.
    static let photoSentence = localized("A photo was taken.")

    /// An event, with the daemon's own sentence.
    init(_ notice: Notice) {
        let app = ShownLine.plain(notice.appName ?? notice.app ?? "")
        let sentence = ShownLine.plain(localized(written: notice.sentence))
        // Without an app, notifications of one kind replace each other.
        key = notice.app.map(Self.key) ?? "kind \(notice.kind.rawValue)"
        body = notice.hasPhoto ? "\(sentence) \(Self.photoSentence)" : sentence
        shown = nil
        urgency = .normal
        actions = [.open, .showLog]
        icon = TrayState.Protection.locked.icon
        switch notice.kind {
        case .blocked:
            summary = localized(app.isEmpty ? "A locked app was blocked" : "\(app) was blocked")
        case .wrongPasscode:
            summary = localized(app.isEmpty ? "Wrong passcode" : "Wrong passcode for \(app)")
            actions = [.lockNow, .open, .showLog]
        case .unlocked:
            summary = localized(app.isEmpty ? "Apps are unlocked" : "\(app) is unlocked")
            actions = [.lockNow, .open, .showLog]
            icon = TrayState.Protection.unlocked.icon
        case .relocked:
            summary = localized(app.isEmpty ? "Apps are locked again" : "\(app) is locked again")
        case .degraded:
            summary = localized("AppLocker's protection is degraded")
            urgency = .critical
            icon = TrayState.Protection.degraded.icon
        }
    }

    /// Shown before an app is closed. Other notices about the app leave it and its button on the screen.
    init(_ closing: ClosingNotice) {
        let app = ShownLine.plain(closing.appName)
        self.init(
            key: Self.closingKey(app: closing.app), summary: localized("\(app) closes in \(closing.secondsLeft) s"),
            body: localized("Its unlock ends then. Save your work, or keep it open with the passcode."),
            icon: TrayState.Protection.unlocked.icon, urgency: .critical, actions: [.keepOpen],
            shown: .seconds(closing.secondsLeft))
    }

    private static func key(app: String) -> String { "app \(app)" }

    static func closingKey(app: String) -> String { "closing \(app)" }

    /// Shown before the lock for inactivity, and withdrawn at the first input.
    static func inactivity(secondsLeft: Int) -> DesktopNotification {
        DesktopNotification(
            key: "inactivity", summary: localized("AppLocker locks in \(secondsLeft) s"),
            body: localized("This computer has been idle. Move the pointer or press a key to continue."),
            icon: TrayState.Protection.unlocked.icon, urgency: .normal, actions: [.lockNow],
            shown: .seconds(secondsLeft))
    }
}

/// The capabilities of a notification server (Desktop Notifications specification, `GetCapabilities`).
struct DesktopNotificationAbilities: Equatable, Sendable {
    var showsActions = false
    var showsBody = false
    var readsMarkup = false

    init() {}

    init(capabilities: [String]) {
        showsActions = capabilities.contains("actions")
        showsBody = capabilities.contains("body")
        readsMarkup = capabilities.contains("body-markup")
    }

    /// The title and the text in the form that this server supports.
    func texts(of notification: DesktopNotification) -> (summary: String, body: String) {
        // Every server shows a summary as plain text.
        guard showsBody else {
            return (
                notification.body.isEmpty ? notification.summary : "\(notification.summary): \(notification.body)", ""
            )
        }
        return (notification.summary, readsMarkup ? ShownLine.escaped(notification.body) : notification.body)
    }

    /// Pairs of key and label.
    ///
    /// - Parameter offered: the actions that this session supports.
    func actions(of notification: DesktopNotification, offered: Set<DesktopNotification.Action>) -> [String] {
        guard showsActions else { return [] }
        return notification.actions.filter(offered.contains).flatMap { [$0.rawValue, $0.label] }
    }
}
