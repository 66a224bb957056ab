import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A computer that is connected to a hub in memory.
struct ConnectedWorld {
    let world: World
    let hub: MemoryHub
    /// Between the computer and the hub.
    let interceptor: HubInterceptor

    var devices: HouseholdServices { world.control.devices }
    var household: HouseholdService { world.control.devices.household }
    var sync: SyncService { world.control.devices.sync }

    init(listed: [AppID] = [firefox, calculator], hub: MemoryHub = MemoryHub(), after: World? = nil) async throws {
        let interceptor = HubInterceptor()
        let world = try await World(
            listed: listed, hasVault: true,
            hub: { InterceptedHub(hub: hub.connection($0), interceptor: interceptor) }, after: after)
        (self.world, self.hub, self.interceptor) = (world, hub, interceptor)
        if after == nil {
            try await household.connect(HubSettings(url: "https://hub.test"), registrationToken: nil, user: 1_000)
        }
        try await isConnected()
    }

    func isConnected() async throws {
        let isConnected = await eventually { await sync.engine.isConnected }
        try #require(isConnected)
    }

    /// Pairs a companion whose keys are in a directory of the world.
    func pair(
        _ name: String = "Anna's phone", clock: @escaping @Sendable () -> UInt64 = Companion.systemClock,
        interceptor: HubInterceptor = HubInterceptor()
    ) async throws -> Companion {
        let pairing = try await household.makePairing(address: nil)
        let link = try #require(pairing.link)
        let (hub, directory) = (hub, world.directory.path("companion-\(UUID().uuidString)"))
        async let companion = Companion.join(
            link, name: name, directory: directory, pause: .milliseconds(5), clock: clock
        ) {
            InterceptedHub(hub: hub.connection($1), interceptor: interceptor)
        }
        let joined = await eventually { try await household.pairing(pairing.id, waitingUpTo: 0).name == name }
        try #require(joined)
        _ = try await household.confirmPairing(pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
        return try await companion
    }

    /// Waits until nothing is queued.
    func settled() async throws {
        let settled = await eventually { try await sync.status().waiting == 0 }
        try #require(settled)
    }
}

/// Changes or delays the hub's answers. Sendable because its state is one `Mutex`.
final class HubInterceptor: Sendable {
    typealias Change = @Sendable (HubRequest, Data) throws -> Data
    private let change = Mutex<Change?>(nil)
    /// The number of requests without an answer; nil while all are answered.
    private let unanswered = Mutex<Int?>(nil)
    private let count = Mutex(0)

    /// The number of requests, answered or not.
    var requests: Int { count.withLock { $0 } }

    /// From now on nothing is answered, as over a dead connection.
    func hang() { unanswered.withLock { $0 = 0 } }

    var hanging: Int { unanswered.withLock { $0 } ?? 0 }

    /// - Throws: `CancellationError`.
    func pass() async throws {
        count.withLock { $0 += 1 }
        let hangs = unanswered.withLock { count in
            count = count.map { $0 + 1 }
            return count != nil
        }
        if hangs { try await Task.sleep(for: .seconds(3_600)) }
    }

    func intercept(_ change: Change?) { self.change.withLock { $0 = change } }

    /// Changes the roster that the hub returns.
    func alterRoster(_ body: @escaping @Sendable (inout RosterPage) -> Void) {
        intercept { request, answer in
            guard request.route == .roster else { return answer }
            var page = try JSONDecoder().decode(RosterPage.self, from: answer)
            body(&page)
            return try JSONEncoder().encode(page)
        }
    }

    func changed(_ request: HubRequest, _ answer: Data) throws -> Data {
        guard let change = change.withLock({ $0 }) else { return answer }
        return try change(request, answer)
    }
}

struct InterceptedHub: HubConnection {
    let hub: any HubConnection
    let interceptor: HubInterceptor

    func send(_ request: HubRequest) async throws -> Data {
        try await interceptor.pass()
        return try interceptor.changed(request, try await hub.send(request))
    }

    func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> {
        try await hub.stream(after: sequence)
    }
}
