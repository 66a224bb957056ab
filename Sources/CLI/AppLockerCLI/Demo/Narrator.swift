import Synchronization

/// Prints the tour line by line, and counts failed checks.
final class Narrator: Sendable {
    private let output: Output
    private let paint: Paint
    private let count = Mutex(0)

    init(_ output: Output) {
        self.output = output
        paint = Paint(output)
    }

    var failures: Int { count.withLock { $0 } }

    func step(_ title: String) { output.line("\n" + paint.strong(title)) }
    func print(_ text: String) { output.line("   " + text) }

    /// Prints what should be true, and whether it is.
    func check(_ holds: Bool, _ promise: String, otherwise: @autoclosure () -> String) {
        if holds { output.line(paint.good("   ok  ") + promise) } else { fail(otherwise()) }
    }

    func fail(_ text: String) {
        count.withLock { $0 += 1 }
        output.line(paint.alarm("   FAILED  ") + text)
    }
}
