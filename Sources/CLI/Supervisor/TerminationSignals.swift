@preconcurrency import Dispatch  // its sources are safe to cancel from any thread
import Glibc

/// Turns signals into calls. The default handlers are restored for children before they run.
final class TerminationSignals: Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Calls `arrived`, on one of Dispatch's threads, for each of `ends`; `ignores` have no effect from now on.
    init(ends: [Int32], ignores: [Int32], arrived: @escaping @Sendable () -> Void) {
        for number in ends + ignores { signal(number, SIG_IGN) }
        sources = ends.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: arrived)
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
