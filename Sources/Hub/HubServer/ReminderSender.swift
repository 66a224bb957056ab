import Foundation
import HubAPI
import HubStore
import Logging
import ServiceLifecycle
import Synchronization

/// Sends each reminder to its device at its time. The store returns a reminder once, also to several hubs that share a
/// database; as any push, it is lost if the hub ends before the push service has it.
final class ReminderSender: Service {
    private struct State {
        var sleeping: Task<Void, Never>?
        var isWoken = false
    }

    /// Other hubs set reminders in the same database, and the clock may be set.
    static let longestPause = Duration.seconds(900)
    private static let retryPause = Duration.seconds(60)
    /// So that many devices with one time don't fill the queue of pushes.
    private static let batchPause = Duration.seconds(1)
    private static let batch = 256

    private let store: any HubStore
    private let pushes: PushSender
    private let time: any HubTime
    private let metrics: HubMetrics
    private let logger: Logger
    private let state = Mutex(State())

    init(store: any HubStore, pushes: PushSender, time: any HubTime, metrics: HubMetrics, logger: Logger) {
        self.store = store
        self.pushes = pushes
        self.time = time
        self.metrics = metrics
        self.logger = logger
    }

    /// Reminders were set: the next one may be earlier.
    func wake() {
        state.withLock { state in
            state.isWoken = true
            state.sleeping?.cancel()
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.state.withLock { $0.isWoken = false }
                let start = self.time.elapsed()
                await self.sleep(until: start + (await self.sendDue()))
            }
        }
    }

    /// - Returns: how long nothing more is due.
    private func sendDue() async -> Duration {
        do {
            let due = try await store.takeReminders(dueAt: time.seconds(), limit: Self.batch)
            for reminder in due { send(reminder) }
            if due.count == Self.batch { return Self.batchPause }
            guard let next = try await store.nextReminder() else { return Self.longestPause }
            return min(Self.longestPause, .seconds(max(1, next - time.seconds())))
        } catch {
            logger.warning("Reminders can't be read; retrying in a minute.")
            return Self.retryPause
        }
    }

    private func send(_ reminder: DueReminder) {
        let left = reminder.at + PushReminder.lifetime - time.seconds()
        guard left > 0, let payload = try? JSONEncoder().encode(ReminderMessage(reminder: reminder.content)) else {
            return metrics.pushed("expired")
        }
        // Without a topic: lists of one device don't replace each other's.
        let message = PushMessageRequest(payload: payload, urgency: .normal, ttl: Int(left))
        _ = pushes.send(
            message, from: reminder.subscription.device, to: reminder.subscription, of: reminder.household)
    }

    /// - Parameter end: of `HubTime.elapsed()`.
    private func sleep(until end: Duration) async {
        let sleeping = Task { [time] in _ = try? await time.sleep(until: end) }
        state.withLock { state in
            state.sleeping = sleeping
            if state.isWoken { sleeping.cancel() }
        }
        await withTaskCancellationHandler {
            await sleeping.value
        } onCancel: {
            sleeping.cancel()
        }
        state.withLock { $0.sleeping = nil }
    }
}
