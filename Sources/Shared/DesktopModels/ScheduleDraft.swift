import Localization
public import Policy

/// An app's schedule while it is edited. The control socket's form is in docs/control-socket.md, "Schedules".
public struct ScheduleDraft: Equatable, Sendable {
    public enum Kind: Int, CaseIterable, Sendable {
        case always, block, allow

        public var title: String {
            switch self {
            case .always: localized("Always locked")
            case .block: localized("Locked at these times")
            case .allow: localized("Unlocked only at these times")
            }
        }

        fileprivate var word: String { self == .allow ? "allow" : "block" }
    }

    /// A schedule to begin with.
    public struct Template: Equatable, Sendable {
        public var title: String
        public var draft: ScheduleDraft
    }

    /// From one time of day until another, on some days of the week.
    public struct Times: Equatable, Sendable {
        /// On which it begins.
        public var days: Set<Weekday>
        /// "22:00", as it is typed.
        public var start: String
        /// "07:00"; at or before `start` it is on the next day.
        public var end: String

        public init(days: Set<Weekday>, start: String, end: String) {
            self.days = days
            self.start = start
            self.end = end
        }

        fileprivate init(_ window: Schedule.Window) {
            let text = window.description
            let ends = text[text.index(after: text.lastIndex(of: " ") ?? text.startIndex)...].split(separator: "-")
            self.init(days: window.weekdays, start: String(ends[0]), end: String(ends[1]))
        }

        /// - Throws: `PolicyError` with a sentence for people.
        fileprivate func window() throws(PolicyError) -> Schedule.Window {
            // Without days the text would mean every day.
            guard !days.isEmpty else { return try Schedule.Window(weekdays: [], start: 0, end: 0) }
            let ends = [start, end].map { end in
                let text = end.filter { !$0.isWhitespace && $0 != "," }
                return text.contains(":") ? text : text + ":00"
            }
            let days = days.sorted().map(\.shortName).joined(separator: ",")
            return try Schedule.windows(text: "\(days) \(ends[0])-\(ends[1])")[0]
        }
    }

    public var kind: Kind
    public var times: [Times]

    /// The times that a person adds begin as these.
    public static let usual = Times(
        days: [.monday, .tuesday, .wednesday, .thursday, .friday], start: "09:00", end: "17:00")

    public init(kind: Kind = .always, times: [Times] = []) {
        self.kind = kind
        self.times = times
    }

    private init(kind: Kind, _ windows: [Schedule.Window]) { self.init(kind: kind, times: windows.map(Times.init)) }

    /// - Parameter text: as the daemon returns it; nil: always locked.
    public init(text: String?) {
        self.init()
        guard let text, let space = text.firstIndex(of: " "),
            let kind = [Kind.block, .allow].first(where: { $0.word == text[..<space] }),
            let windows = try? Schedule.windows(text: String(text[text.index(after: space)...]))
        else { return }
        self.init(kind: kind, windows)
    }

    /// For the daemon; "" for always locked, which a schedule without times is.
    ///
    /// - Throws: `PolicyError` with a sentence for people.
    public func text() throws(PolicyError) -> String {
        guard kind != .always, !times.isEmpty else { return "" }
        var windows: [Schedule.Window] = []
        for times in times { windows.append(try times.window()) }
        let schedule = Schedule(mode: kind == .block ? .blockInside : .allowOnlyInside, windows: windows)
        return "\(kind.word) \(schedule.text)"
    }

    public static let templates = Schedule.templates.map { template in
        Template(
            title: localized(written: template.summary),
            draft: ScheduleDraft(
                kind: template.schedule.mode == .blockInside ? .block : .allow, template.schedule.windows))
    }
}
