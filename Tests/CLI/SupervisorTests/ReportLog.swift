import Synchronization

/// The lines that a supervisor reported.
final class ReportLog: Sendable {
    private let entries = Mutex<[String]>([])

    var lines: [String] { entries.withLock { $0 } }

    var report: @Sendable (String) -> Void {
        { [self] line in entries.withLock { $0.append(line) } }
    }
}
