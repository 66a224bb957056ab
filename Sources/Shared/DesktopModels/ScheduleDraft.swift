public import Policy

/// An app's schedule while it is edited. The control socket's form is in docs/control-socket.md, "Schedules".
public struct ScheduleDraft: Equatable, Sendable {
    public enum Kind: Int, CaseIterable, Sendable {
        case always, block, allow

        public var title: String {
            switch self {
            case .always: "Always locked"
            case .block: "Locked at these times"
            case .allow: "Unlocked only at these times"
            }
        }

        fileprivate var word: String { self == .allow ? "allow" : "block" }
    }

    /// A schedule to begin with.
    public struct Template: Equatable, Sendable {
        public var title: String
        public var draft: ScheduleDraft
    }

    public var kind: Kind
    /// Days and times, "mon-fri 22:00-07:00, sat,sun 10:00-12:00".
    public var times: String

    public init(kind: Kind = .always, times: String = "") {
        self.kind = kind
        self.times = times
    }

    /// - Parameter text: as the daemon returns it; nil: always locked.
    public init(text: String?) {
        self.init()
        guard let text, let space = text.firstIndex(of: " "),
            let kind = [Kind.block, .allow].first(where: { $0.word == text[..<space] })
        else { return }
        self.kind = kind
        times = String(text[text.index(after: space)...])
    }

    /// For the daemon; "" for always locked.
    ///
    /// - Throws: `PolicyError` with a sentence for people.
    public func text() throws(PolicyError) -> String {
        guard kind != .always else { return "" }
        let schedule = try Schedule(mode: kind == .block ? .blockInside : .allowOnlyInside, text: times)
        return "\(kind.word) \(schedule.text)"
    }

    public static let templates = Schedule.templates.map { template in
        Template(
            title: template.summary,
            draft: ScheduleDraft(
                kind: template.schedule.mode == .blockInside ? .block : .allow, times: template.schedule.text))
    }
}
