import WireProtocol

/// One notification, before it is fitted to what the desktop's server can show.
struct Bubble: Equatable, Sendable {
    enum Action: String, Sendable, CaseIterable {
        case lockNow = "lock-now"
        case showLog = "show-log"

        var label: String {
            switch self {
            case .lockNow: "Lock now"
            case .showLog: "Show log"
            }
        }
    }

    /// The levels of the Desktop Notifications specification, "Urgency Levels".
    enum Urgency: UInt8, Sendable {
        case low, normal
        /// Stays until it is closed.
        case critical
    }

    /// A later bubble with the same key takes this one's place.
    var key: String
    var summary: String
    /// Plain text.
    var body: String
    var icon: String
    var urgency: Urgency
    var actions: [Action]
    /// How long it is shown; nil leaves it to the server.
    var shown: Duration?
}

extension Bubble {
    /// Says that a photo exists, never what is on it.
    static let photoSentence = "A photo was taken."

    /// What happened, in the daemon's own sentence.
    init(_ notice: Notice) {
        let app = ShownLine.plain(notice.appName ?? notice.app ?? "")
        let sentence = ShownLine.plain(notice.sentence)
        // What concerns no app has a place of its own for each kind of news.
        key = notice.app.map { "app \($0)" } ?? "kind \(notice.kind.rawValue)"
        body = notice.hasPhoto ? "\(sentence) \(Self.photoSentence)" : sentence
        shown = nil
        urgency = .normal
        actions = [.showLog]
        icon = TrayState.Protection.locked.icon
        switch notice.kind {
        case .blocked:
            summary = app.isEmpty ? "A locked app was blocked" : "\(app) was blocked"
        case .wrongPasscode:
            summary = app.isEmpty ? "Wrong passcode" : "Wrong passcode for \(app)"
            actions = [.lockNow, .showLog]
        case .unlocked:
            summary = app.isEmpty ? "Apps are unlocked" : "\(app) is unlocked"
            actions = [.lockNow, .showLog]
            icon = TrayState.Protection.unlocked.icon
        case .relocked:
            summary = app.isEmpty ? "Apps are locked again" : "\(app) is locked again"
        case .degraded:
            summary = "AppLocker protects less than it should"
            urgency = .critical
            icon = TrayState.Protection.degraded.icon
        }
    }

    /// Before the lock for inactivity. It is withdrawn with the first touch.
    static func inactivity(secondsLeft: Int) -> Bubble {
        Bubble(
            key: "inactivity", summary: "AppLocker locks in \(secondsLeft) s",
            body: "Nobody has touched this computer for a while. Move the pointer or press a key to go on.",
            icon: TrayState.Protection.unlocked.icon, urgency: .normal, actions: [.lockNow],
            shown: .seconds(secondsLeft))
    }
}

/// What a notification server says it can do (Desktop Notifications specification, `GetCapabilities`).
struct BubbleAbilities: Equatable, Sendable {
    var showsActions = false
    var showsBody = false
    var readsMarkup = false

    init() {}

    init(capabilities: [String]) {
        showsActions = capabilities.contains("actions")
        showsBody = capabilities.contains("body")
        readsMarkup = capabilities.contains("body-markup")
    }

    /// The title and the text as this server must get them.
    func texts(of bubble: Bubble) -> (summary: String, body: String) {
        // A summary is plain text for every server.
        guard showsBody else {
            return (bubble.body.isEmpty ? bubble.summary : "\(bubble.summary): \(bubble.body)", "")
        }
        return (bubble.summary, readsMarkup ? ShownLine.escaped(bubble.body) : bubble.body)
    }

    /// Pairs of key and label.
    ///
    /// - Parameter offered: what this session can do at all.
    func actions(of bubble: Bubble, offered: Set<Bubble.Action>) -> [String] {
        guard showsActions else { return [] }
        return bubble.actions.filter(offered.contains).flatMap { [$0.rawValue, $0.label] }
    }
}
