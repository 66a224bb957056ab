import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

/// A daemon of a test: one handler for each route, and what was requested.
final class FakeControl: DesktopControl {
    struct Request: Sendable {
        var route: ControlRoute
        var parameter: String?
        var token: String?
        var body: Data
        var query: [String: String]
        /// Of a shared vault.
        var vault: String?

        func body<Body: Decodable>(as type: Body.Type) throws -> Body { try JSONDecoder().decode(type, from: body) }
    }

    /// A handler waits here until the test ends it.
    final class Hold: Sendable {
        private let hasEnded = Mutex(false)

        func end() { hasEnded.withLock { $0 = true } }
        func wait() async throws {
            while !hasEnded.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    typealias Handler = @Sendable (Request) async throws -> Data

    private struct State {
        var handlers: [ControlRoute: Handler] = [:]
        var requests: [Request] = []
        var blob: [UInt8] = []
    }

    static let passcode = "correct horse 9"

    private let state = Mutex(State())

    /// Answers the requests of an operation from now on.
    func on<Input, Reply: Codable & Sendable>(
        _ operation: ControlOperationPath<Input, Reply>, _ handler: @escaping @Sendable (Request) async throws -> Reply
    ) {
        let route = ControlOperations.all[keyPath: operation].route
        state.withLock { $0.handlers[route] = { try await JSONEncoder().encode(handler($0)) } }
    }

    func requests(_ route: ControlRoute) -> [Request] {
        state.withLock { state in state.requests.filter { $0.route == route } }
    }

    func setBlob(_ bytes: [UInt8]) { state.withLock { $0.blob = bytes } }

    func send<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, parameter: String?, token: String?, body: Body
    ) async throws -> Reply {
        try await InVault(control: self).send(operation, parameter: parameter, token: token, body: body)
    }

    func send<Query: ControlQuery, Reply>(
        _ operation: ControlOperationPath<Query, Reply>, parameter: String?, token: String?, query: Query
    ) async throws -> Reply {
        try await InVault(control: self).send(operation, parameter: parameter, token: token, query: query)
    }

    func inVault(_ id: String?) -> any DesktopControl { InVault(control: self, vault: id) }

    private struct InVault: DesktopControl {
        let control: FakeControl
        var vault: String?

        func send<Body: Encodable & Sendable, Reply>(
            _ operation: ControlOperationPath<Body, Reply>, parameter: String?, token: String?, body: Body
        ) async throws -> Reply {
            try await control.answer(
                Request(
                    route: ControlOperations.all[keyPath: operation].route, parameter: parameter, token: token,
                    body: JSONEncoder().encode(body), query: [:], vault: vault))
        }

        func send<Query: ControlQuery, Reply>(
            _ operation: ControlOperationPath<Query, Reply>, parameter: String?, token: String?, query: Query
        ) async throws -> Reply {
            try await control.answer(
                Request(
                    route: ControlOperations.all[keyPath: operation].route, parameter: parameter, token: token,
                    body: Data(), query: Dictionary(uniqueKeysWithValues: query.query), vault: vault))
        }

        func readBlob(_ blob: String, offset: UInt64) async throws -> [UInt8] {
            try await control.readBlob(blob, offset: offset)
        }

        func putBlob(_ blob: String, offset: UInt64, bytes: [UInt8]) async throws {
            try await control.putBlob(blob, offset: offset, bytes: bytes)
        }

        func inVault(_ id: String?) -> any DesktopControl { control.inVault(id) }
    }

    func readBlob(_ blob: String, offset: UInt64) async throws -> [UInt8] {
        state.withLock { Array($0.blob.dropFirst(Int(offset)).prefix(ControlRoute.maximumBlobPiece)) }
    }

    func putBlob(_ blob: String, offset: UInt64, bytes: [UInt8]) async throws {
        state.withLock { $0.blob.replaceSubrange(Int(offset)..., with: bytes) }
    }

    var blob: [UInt8] { state.withLock { $0.blob } }

    private func answer<Reply: Decodable>(_ request: Request) async throws -> Reply {
        let handler = state.withLock { state in
            state.requests.append(request)
            return state.handlers[request.route]
        }
        guard let handler else { throw ControlError(.failed, "The test answers no \(request.route.rawValue).") }
        return try JSONDecoder().decode(Reply.self, from: try await handler(request))
    }

    // MARK: What most tests need

    /// Sessions of 15 minutes, 5 without a change, for the right passcode.
    func acceptPasscode() {
        let count = Mutex(0)
        on(\.openSession) { request in
            try Self.check(try request.body(as: PasscodeRequest.self).passcode)
            let number = count.withLock { count in
                count += 1
                return count
            }
            return SessionReport(token: "token \(number)", expiresInSeconds: 900, idleSeconds: 300)
        }
        on(\.endSession) { _ in DoneReport() }
    }

    static func check(_ passcode: String) throws {
        guard passcode == Self.passcode else { throw ControlError(.wrongPasscode, "This passcode is wrong.") }
    }

    /// As the daemon answers while the named apps are unlocked by a phone.
    func refuseToLockWithoutToken() {
        on(\.lock) { request in
            try Self.requireToken(request)
            return AppsChanged(apps: [])
        }
    }

    static func requireToken(_ request: Request) throws {
        guard request.token != nil else { throw ControlError(.sessionNeeded, "Open a session first.") }
    }
}

/// A clock that a test moves.
final class TestClock: Sendable {
    private struct State {
        var now = Duration.zero
        var begun = 0
        var sleepers: [(end: Duration, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())
    /// 2026-01-31 12:00 UTC.
    static let start = 1_769_860_800.0

    var time: DesktopTime {
        DesktopTime(
            wallClock: { Self.start + Double(self.now.components.seconds) }, uptime: { self.now },
            utcOffset: { _ in 60 },
            sleep: { duration in
                try await withCheckedThrowingContinuation { continuation in
                    self.state.withLock { state in
                        state.begun += 1
                        state.sleepers.append((state.now + duration, continuation))
                    }
                }
                try Task.checkCancellation()
            })
    }

    var now: Duration { state.withLock { $0.now } }
    /// How many waits have begun so far.
    var begun: Int { state.withLock { $0.begun } }
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.end <= state.now }
            state.sleepers.removeAll { $0.end <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}

@MainActor
func makeContext(
    _ control: FakeControl, _ clock: TestClock = TestClock(), appName: @escaping AppNaming = { $1 }
) -> DesktopContext {
    DesktopContext(control: control, time: clock.time, appName: appName)
}

/// Waits until the dialog asks, then types a passcode.
@MainActor
func answer(_ prompt: PasscodePrompt, _ passcode: String = FakeControl.passcode) async {
    await eventually("the passcode dialog opens") { prompt.question != nil && !prompt.isChecking }
    await prompt.submit(passcode)
}

func app(
    _ id: String, _ name: String, _ state: AppReport.State = .locked, seconds: Int? = nil, schedule: String? = nil,
    categories: [String] = [], hasOwnPasscode: Bool = false
) -> AppReport {
    AppReport(
        id: id, name: name, icon: nil, state: state, unlockedForSeconds: seconds, schedule: schedule,
        categories: categories, hasOwnPasscode: hasOwnPasscode, onGrantEnd: "keep", executables: [],
        privateDirectories: [], sharedWith: [])
}

func status(
    _ protection: StatusReport.Protection = .held, degraded: [String] = [], isSetUp: Bool = true,
    monitoring: MonitoringState = MonitoringState(isOn: true), locked: Int = 2, unlocked: Int = 0, waiting: Int = 0,
    prompter: Bool = true, lockout: LockoutState = LockoutState(failures: 0, remainingSeconds: 0)
) -> StatusReport {
    StatusReport(
        version: "1", isSetUp: isSetUp, protection: protection, degraded: degraded, monitoring: monitoring,
        lockedApps: locked, unlockedApps: unlocked, waitingLaunches: waiting,
        waitingEndsInSeconds: waiting > 0 ? 20 : nil, prompterConnected: prompter, lockout: lockout, processes: [])
}
