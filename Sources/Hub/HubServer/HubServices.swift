import Foundation
import HubAPI
import HubStore
import Logging
import ServiceLifecycle

/// Returns when the hub shuts down, by request or by a failure.
private func untilTheEnd() async { try? await gracefulShutdown() }

/// Closes the store after every service that uses it has ended.
struct StoreService: Service {
    let store: any HubStore

    func run() async throws {
        await untilTheEnd()
        // A shutdown that takes longer than its limit cancels this task, in which the store would refuse to close. A
        // task of its own is not cancelled.
        try await Task { try await store.close() }.value
    }
}

/// Ends the streams before the server waits for its connections.
struct StreamService: Service {
    let service: HubService

    func run() async throws {
        await untilTheEnd()
        service.end()
        service.streams.endAll()
    }
}

struct ChangeService: Service {
    let store: any HubStore
    let streams: StreamHub
    let time: any HubTime
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    let changes = try await store.changes()
                    // Also at first: the server accepts streams meanwhile.
                    await streams.handle(.unknown)
                    for await change in changes { await streams.handle(change) }
                } catch {
                    logger.warning("The store's notifications can't be received; retrying.")
                }
                try? await time.sleep(for: .seconds(1))
            }
        }
    }
}

struct PushService: Service {
    let pushes: PushSender

    func run() async throws {
        await untilTheEnd()
        await pushes.end()
    }
}

/// Checks once a minute whether the certificate on disk has changed.
struct CertificateWatch: Service {
    let certificates: CertificateReloader?
    let time: any HubTime

    func run() async throws {
        guard let certificates else { return await untilTheEnd() }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await time.sleep(for: .seconds(60))
                certificates.reload(always: false)
            }
        }
    }
}

/// Removes expired data: events, answered commands and requests, blobs that no record names.
struct Housekeeping: Service {
    static let pause = Duration.seconds(3_600)
    private static let day: Int64 = 86_400

    let store: any HubStore
    let blobs: any HubBlobStore
    let time: any HubTime
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await tidy()
                } catch {
                    logger.warning("Expired records could not be removed; retrying in an hour.")
                }
                try? await time.sleep(for: Self.pause)
            }
        }
    }

    func tidy() async throws {
        let now = time.seconds()
        for household in try await store.households() {
            guard !Task.isCancelled else { return }
            guard let days = try? await store.household(household).eventDays else { continue }
            _ = try await store.prune(["events"], of: household, writtenBefore: now - Int64(days) * Self.day)
            _ = try await store.prune(["commands", "requests"], of: household, writtenBefore: now - Self.day)
        }
        let garbage = try await store.collectGarbage(at: now)
        guard !garbage.isEmpty else { return }
        try await blobs.remove(garbage)
        try await store.forgetGarbage(garbage)
    }
}
