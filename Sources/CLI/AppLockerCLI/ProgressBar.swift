import Foundation

/// The progress of a long operation, on one line of the terminal that is removed afterwards. Shows nothing if standard
/// error is not a terminal.
struct ProgressBar {
    private let label: String
    private let total: UInt64
    private let isShown: Bool
    private var shown = -1

    /// - Parameter total: in bytes.
    init(_ label: String, total: UInt64, isShown: Bool) {
        self.label = label
        self.total = max(1, total)
        self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    mutating func show(_ done: UInt64) {
        let percent = Int(min(100, done * 100 / total))
        guard isShown, percent != shown else { return }
        shown = percent
        let filled = percent * 30 / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        Output.errors.write("\r\(label) \(bar) \(percent) %")
    }

    /// Removes the line.
    func end() { if isShown, shown >= 0 { Output.errors.write("\r\u{1B}[K") } }
}
