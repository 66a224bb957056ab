@preconcurrency import Dispatch  // its sources are safe to cancel from any thread
import Glibc

/// Turns signals into calls. The default handlers are restored for children before they run.
package final class TerminationSignals: Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Calls `arrived`, on one of Dispatch's threads, for each of `ends` that arrives after this has returned; `ignores`
    /// have no effect from now on.
    package init(ends: [Int32], ignores: [Int32], arrived: @escaping @Sendable () -> Void) async {
        for number in ignores { signal(number, SIG_IGN) }
        var sources: [any DispatchSourceSignal] = []
        for number in ends {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: arrived)
            sources.append(source)
            // Until it is registered the signal ends this process, which has begun nothing yet: an ignored one would
            // be lost.
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
        }
        self.sources = sources
    }

    package func cancel() {
        for source in sources { source.cancel() }
    }
}
