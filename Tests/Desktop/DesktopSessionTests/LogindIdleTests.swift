import ControlAPI
import DBus
import Glibc
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

/// A mock of logind with one session whose idle hint the test sets.
final class MockIdleHint: Sendable {
    private static let session = "/org/freedesktop/login1/session/_35"
    private static let interface = "org.freedesktop.login1.Session"

    let bus: DBusConnection
    /// How often the hint was read.
    let questions = Atomic(0)
    private let hint = Mutex<(isIdle: Bool, since: UInt64)>((false, 0))

    init(on system: PrivateSessionBus) async throws {
        bus = try system.connect()
        let path = Self.session
        try await bus.export(
            "/org/freedesktop/login1",
            [
                BusInterface(
                    "org.freedesktop.login1.Manager",
                    methods: [
                        "GetSession": .init(arguments: "s", returns: "o") { arguments, _ in
                            guard arguments[0].text == "5" else {
                                throw BusError(.refused, name: "org.freedesktop.login1.NoSuchSession", "No session.")
                            }
                            return [.objectPath(path)]
                        }
                    ])
            ])
        for path in [path, "/org/freedesktop/login1/session/auto"] {
            try await bus.export(
                path,
                [
                    BusInterface(
                        Self.interface,
                        properties: [
                            "Id": .init("s") { .string("5") },
                            "IdleHint": .init("b") { [weak self] in
                                self?.questions.add(1, ordering: .relaxed)
                                return .bool(self?.hint.withLock { $0.isIdle } ?? false)
                            },
                            "IdleSinceHintMonotonic": .init("t") { [weak self] in
                                .uint64(self?.hint.withLock { $0.since } ?? 0)
                            },
                        ])
                ])
        }
        try await bus.own(LogindIdle.name)
    }

    /// - Parameter ago: how long ago the hint changed.
    func setHint(_ isIdle: Bool, since ago: Duration = .zero) async throws {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let since = Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) - ago
        hint.withLock { $0 = (isIdle, UInt64(since / .microseconds(1))) }
        try await bus.emit(
            Self.session, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.string(Self.interface), .options(["IdleHint": .bool(isIdle)]), .strings([])])
    }
}

@Suite(.requires(.program("dbus-daemon"))) struct LogindIdleTests {
    @Test func aDesktopThatNeverSetTheHintIsNotASource() async throws {
        let system = try await PrivateSessionBus()
        let logind = try await MockIdleHint(on: system)
        let bus = try system.connect()
        await #expect(throws: IdleSourceUnavailable.self) { try await LogindIdle(bus, session: "5") }
        await #expect(throws: BusError.self) { try await LogindIdle(bus, session: "77") }
        try await logind.setHint(false)
        _ = try await LogindIdle(bus, session: "5")
        #expect(try await LogindIdle(bus, session: nil).path.hasSuffix("_35"), "the caller's own session")
    }

    @Test func idleTimeCountsFromTheHint() async throws {
        let system = try await PrivateSessionBus()
        let logind = try await MockIdleHint(on: system)
        let began = ContinuousClock.now
        try await logind.setHint(true, since: .seconds(300))
        let source = try await LogindIdle(try system.connect(), session: "5")
        let idle = try await source.idleTime()
        // The hint's time is in whole microseconds.
        let longest = Duration.seconds(300) + began.duration(to: .now) + .microseconds(1)
        #expect(idle >= .seconds(300) && idle <= longest)
        let touched = Flag()
        let asked = logind.questions.load(ordering: .relaxed)
        let waiting = Task {
            try await source.untilTouched()
            touched.set()
        }
        // It reads the hint at the start and at each change; a wait that had ended would not read it again.
        for question in 1...3 {
            await eventually("question \(question)") { logind.questions.load(ordering: .relaxed) >= asked + question }
            try await logind.setHint(true, since: .seconds(300))
        }
        #expect(!touched.isSet)
        try await logind.setHint(false)
        try await waiting.value
        #expect(try await source.idleTime() == .zero)
    }

    @Test func aWaitSleepsUntilItsTimeOrAChangeOfTheHint() async throws {
        let system = try await PrivateSessionBus()
        let logind = try await MockIdleHint(on: system)
        try await logind.setHint(false)
        let source = try await LogindIdle(try system.connect(), session: "5")
        let changed = Flag()
        let asked = logind.questions.load(ordering: .relaxed)
        let waiting = Task {
            try await source.untilIdle(for: .seconds(60))
            changed.set()
        }
        // After two readings it listens for changes; a wait that did not block would be done before this answer.
        await eventually("two readings") { logind.questions.load(ordering: .relaxed) >= asked + 2 }
        #expect(try await source.idleTime() == .zero)
        #expect(!changed.isSet)
        try await logind.setHint(true)
        try await waiting.value
        // Idle for 59.8 s: it sleeps for the rest of the minute.
        try await logind.setHint(true, since: .milliseconds(59_800))
        let began = ContinuousClock.now
        try await source.untilIdle(for: .seconds(60))
        #expect(began.duration(to: .now) < .seconds(50), "not a minute from now")
        #expect(try await source.idleTime() >= .milliseconds(59_900))
    }
}
