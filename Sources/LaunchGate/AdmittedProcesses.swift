import Glibc

/// The processes that were let in: a launch that was allowed, whatever of the app already ran, and every program of the
/// app that those started. They and their descendants may start the app's programs for as long as they live.
///
/// Nothing is held open for them: a process that has ended is noticed by its start time when its number turns up
/// again, and the dead are swept out when the table has doubled.
struct AdmittedProcesses {
    private struct Entry {
        var start: UInt64
        var apps: Set<Int>
    }

    private var entries: [Int32: Entry] = [:]
    private var sweepAt = 256
    /// How far up a descendant is looked for.
    private static let maximumGenerations = 64

    mutating func admit(_ process: Int32, start: UInt64, app key: Int) {
        if let entry = entries[process], entry.start == start {
            entries[process]!.apps.insert(key)
            return
        }
        entries[process] = Entry(start: start, apps: [key])
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { ProcessFacts.status($0.key)?.start == $0.value.start }
        sweepAt = max(256, entries.count * 2)
    }

    /// Whether the process, or one it descends from, was let into the app.
    func covers(_ process: Int32, app key: Int) -> Bool {
        guard !entries.isEmpty else { return false }
        var process = process
        var youngest = UInt64.max
        for _ in 0..<Self.maximumGenerations {
            guard let status = ProcessFacts.status(process), status.start <= youngest else { return false }
            if let entry = entries[process], entry.start == status.start, entry.apps.contains(key) { return true }
            guard status.parent > 1 else { return false }
            youngest = status.start
            process = status.parent
        }
        return false
    }

    func contains(_ process: Int32, start: UInt64, app key: Int) -> Bool {
        guard let entry = entries[process] else { return false }
        return entry.start == start && entry.apps.contains(key)
    }

    mutating func forget(app key: Int) {
        for process in entries.keys { entries[process]!.apps.remove(key) }
        entries = entries.filter { !$0.value.apps.isEmpty }
    }

    var count: Int { entries.count }
}
