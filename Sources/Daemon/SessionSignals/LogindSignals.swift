public import DBus
public import DaemonCore
import HubAPI
import Synchronization

/// systemd-logind's signals of sleep, shutdown, sessions and idleness (org.freedesktop.login1(5)), and UPower's of the
/// lid, over the system bus. Without a bus or logind it reports that and tries again.
///
/// Sendable because its state is one `Mutex`.
public final class LogindSignals: SessionSignalsPort {
    public let signals: AsyncStream<SessionSignal>
    private let continuation: AsyncStream<SessionSignal>.Continuation
    private let delay = SleepDelay()
    private let address: DBusConnection.Address
    private let retries: ClosedRange<Duration>
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter retries: the first and the longest wait before the bus is tried again.
    public init(
        address: DBusConnection.Address = .system, retries: ClosedRange<Duration> = .seconds(1) ... .seconds(60)
    ) {
        self.address = address
        self.retries = retries
        (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(4_096))
    }

    deinit { stop() }

    /// Begins to listen, until `stop`.
    public func start() {
        task.withLock { task in
            guard task == nil else { return }
            let (address, retries, delay, continuation) = (address, retries, delay, continuation)
            task = Task { await Self.run(address, retries, delay, continuation) }
        }
    }

    /// Lets the computer sleep without waiting.
    public func stop() {
        task.withLock { $0?.cancel() }
        delay.drop()
    }

    public func acknowledge(_ number: UInt64) { delay.acknowledge(number) }

    private static func run(
        _ address: DBusConnection.Address, _ retries: ClosedRange<Duration>, _ delay: SleepDelay,
        _ continuation: AsyncStream<SessionSignal>.Continuation
    ) async {
        var backoff = Backoff(first: retries.lowerBound, longest: retries.upperBound, jitter: 1...1)
        while !Task.isCancelled {
            do {
                let bus = try DBusConnection(address)
                let listener = LogindListener(bus: bus, delay: delay, signals: continuation)
                await withTaskCancellationHandler {
                    async let lid: Void = LidListener(bus: bus, signals: continuation).serve()
                    do { try await listener.serve() } catch { continuation.yield(.unavailable(Self.reason(error))) }
                    bus.close()
                    await lid
                } onCancel: {
                    bus.close()
                }
                if await listener.wasServed { backoff.succeeded() }
            } catch {
                continuation.yield(.unavailable(Self.reason(error)))
            }
            delay.drop()
            try? await Task.sleep(for: backoff.next())
        }
        continuation.finish()
    }

    /// The end of a sentence.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? BusError else { return "\(error)" }
        switch error.code {
        case .unreachable: return "the D-Bus system bus is not running"
        case .closed: return "the system message bus closed the connection"
        default:
            let answer = error.description
            return "systemd-logind answered: \(answer.hasSuffix(".") ? String(answer.dropLast()) : answer)"
        }
    }
}
