import Policy

/// Limits events that are alike, such as those of a loop that starts a locked app again and again. The first are
/// written one by one, the rest of a minute as one line with their number.
struct RepeatedEvents {
    /// How many are written one by one.
    static let burst = 16
    /// How long events are counted before a line has their number.
    static let window = Duration.seconds(60)
    /// How many kinds of events are distinguished at a time.
    static let maximumKinds = 8_192

    private struct Kind: Hashable {
        var kind: ActivityEvent.Kind
        var app: AppID?
        var user: UInt32?
        var reason: String?
    }

    private struct Entry {
        /// Since boot.
        var since: Duration
        var written = 0
        var counted = 0
        var last: ActivityEvent?
    }

    private var entries: [Kind: Entry] = [:]

    /// Counts the event if it is not to be written on its own.
    mutating func isToBeWritten(_ event: ActivityEvent, at now: Duration) -> Bool {
        var kind = Kind(kind: event.kind, app: event.app, user: event.user, reason: event.reason)
        if entries[kind] == nil, entries.count >= Self.maximumKinds {
            entries = entries.filter { $0.value.counted > 0 || now - $0.value.since < Self.window }
            if entries.count >= Self.maximumKinds { kind = Kind(kind: event.kind) }
        }
        var entry = entries[kind] ?? Entry(since: now)
        if entry.counted == 0, now - entry.since >= Self.window { entry = Entry(since: now) }
        // The gate reports only the first of many refusals.
        let burst = event.reason == Reason.tooManyWaiting.rawValue ? 1 : Self.burst
        let isToBeWritten = entry.written < burst
        if isToBeWritten {
            entry.written += 1
        } else {
            entry.counted += 1
            entry.last = event
        }
        entries[kind] = entry
        return isToBeWritten
    }

    /// Returns a line for each kind with counted events. Further events of that kind are only counted.
    mutating func takeCounts(at now: Duration, wallClock: Double) -> [ActivityEvent] {
        var lines: [ActivityEvent] = []
        for (kind, entry) in entries {
            guard entry.counted > 0, let last = entry.last else { continue }
            let repetition =
                entry.counted == 1
                ? "This happened 1 more time within a minute."
                : "This happened \(entry.counted) more times within a minute."
            lines.append(
                ActivityEvent(
                    time: wallClock, kind: kind.kind, app: kind.app, user: kind.user, path: last.path,
                    reason: kind.reason, sentence: "\(last.sentence) \(repetition)"))
            entries[kind] = Entry(since: now, written: .max)
        }
        return lines.sorted { $0.sentence < $1.sentence }
    }
}
