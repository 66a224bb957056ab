import ControlAPI
import DBus
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

/// A mock of GNOME's idle monitor whose time the test sets.
final class MockMutter: Sendable {
    static let path = "/org/gnome/Mutter/IdleMonitor/Core"

    let bus: DBusConnection
    let calls = Calls()
    let idleMilliseconds = Mutex<UInt64>(0)

    init(on session: PrivateSessionBus) async throws {
        bus = try session.connect()
        let calls = calls
        let watches = Atomic<UInt32>(0)
        @Sendable func watch(_ member: String) -> BusInterface.Handler {
            { arguments, _ in
                calls.add(member, arguments)
                return [.uint32(watches.add(1, ordering: .relaxed).newValue)]
            }
        }
        try await bus.export(
            Self.path,
            [
                BusInterface(
                    MutterIdle.name,
                    methods: [
                        "GetIdletime": .init(returns: "t") { [weak self] _, _ in
                            calls.add("GetIdletime", [])
                            return [.uint64(self?.idleMilliseconds.withLock { $0 } ?? 0)]
                        },
                        "AddIdleWatch": .init(arguments: "t", returns: "u", watch("AddIdleWatch")),
                        "AddUserActiveWatch": .init(returns: "u", watch("AddUserActiveWatch")),
                        "RemoveWatch": .init(arguments: "u") { arguments, _ in
                            calls.add("RemoveWatch", arguments)
                            return []
                        },
                    ])
            ])
        try await bus.own(MutterIdle.name)
    }

    func fire(_ watch: UInt32) async throws {
        try await bus.emit(Self.path, MutterIdle.name, "WatchFired", [.uint32(watch)])
    }
}

/// A flag that can be set from any thread.
final class Flag: Sendable {
    private let value = Atomic(false)
    func set() { value.store(true, ordering: .relaxed) }
    var isSet: Bool { value.load(ordering: .relaxed) }
}

@Suite(.requires(.program("dbus-daemon"))) struct MutterIdleTests {
    @Test func itWaitsForTheMonitorsSignalWithoutPolling() async throws {
        let session = try await PrivateSessionBus()
        let mutter = try await MockMutter(on: session)
        let source = try await MutterIdle(try session.connect())
        let done = Flag()
        let waiting = Task {
            try await source.untilIdle(for: .seconds(570))
            done.set()
        }
        await eventually("it sets a watch: \(mutter.calls.members)") { mutter.calls["AddIdleWatch"].count == 1 }
        #expect(mutter.calls["AddIdleWatch"][0][0].integer == 570_000)
        await eventually("it asks for the idle time: \(mutter.calls.members)") {
            mutter.calls["GetIdletime"].count == 2
        }
        let another = Task { try await source.untilIdle(for: .seconds(580)) }
        await eventually("it asks for the idle time: \(mutter.calls.members)") {
            mutter.calls["GetIdletime"].count == 3
        }
        try await mutter.fire(2)
        try await another.value
        await eventually("its watch is removed") { mutter.calls["RemoveWatch"].map { $0[0].integer } == [2] }
        // Real time is what is tested: a source that polls would ask in it.
        try await Task.sleep(for: .milliseconds(300))
        #expect(!done.isSet, "only the other watch fired")
        #expect(mutter.calls["GetIdletime"].count == 3, "nothing is asked while it waits")
        try await mutter.fire(1)
        try await waiting.value
        await eventually("the watch is removed") { mutter.calls["RemoveWatch"].map { $0[0].integer } == [2, 1] }
    }

    /// Anybody on the session bus may own the monitor's name.
    @Test(arguments: [Int64(-1), 1 << 32, Int64.max, Int64.min])
    func aWatchWithAnInvalidNumberIsRefused(_ number: Int64) async throws {
        let session = try await PrivateSessionBus()
        let bus = try session.connect()
        defer { withExtendedLifetime(bus) {} }
        try await bus.export(
            MockMutter.path,
            [
                BusInterface(
                    MutterIdle.name,
                    methods: [
                        "GetIdletime": .init(returns: "t") { _, _ in [.uint64(0)] },
                        "AddIdleWatch": .init(arguments: "t", returns: "x") { _, _ in [.int64(number)] },
                    ])
            ])
        try await bus.own(MutterIdle.name)
        let source = try await MutterIdle(try session.connect())
        await #expect(throws: IdleSourceUnavailable.self) { try await source.untilIdle(for: .seconds(1)) }
    }

    @Test func itDetectsTheFirstInput() async throws {
        let session = try await PrivateSessionBus()
        let mutter = try await MockMutter(on: session)
        let source = try await MutterIdle(try session.connect())
        let waiting = Task { try await source.untilTouched() }
        await eventually("it sets a watch: \(mutter.calls.members)") { mutter.calls["AddUserActiveWatch"].count == 1 }
        await eventually("the wait ends") {
            try await mutter.fire(1)
            return !mutter.calls["RemoveWatch"].isEmpty
        }
        try await waiting.value
    }

    @Test func aCancelledWaitRemovesItsWatch() async throws {
        let session = try await PrivateSessionBus()
        let mutter = try await MockMutter(on: session)
        let source = try await MutterIdle(try session.connect())
        let waiting = Task { try await source.untilIdle(for: .seconds(570)) }
        await eventually("it asks for the idle time: \(mutter.calls.members)") {
            mutter.calls["GetIdletime"].count == 2
        }
        waiting.cancel()
        await eventually("the watch is removed: \(mutter.calls.members)") { mutter.calls["RemoveWatch"].count == 1 }
    }

    @Test func aCompositorThatDisconnectsEndsTheWaitWithAnError() async throws {
        let session = try await PrivateSessionBus()
        var mutter: MockMutter? = try await MockMutter(on: session)
        let source = try await MutterIdle(try session.connect())
        let waiting = Task { try await source.untilIdle(for: .seconds(570)) }
        await eventually("it sets a watch") { mutter?.calls["AddIdleWatch"].count == 1 }
        mutter?.bus.close()
        mutter = nil
        await #expect(throws: (any Error).self) { try await waiting.value }
        await #expect(throws: (any Error).self) { try await MutterIdle(try session.connect()) }
    }
}

@Suite(.requires(.display, .program("xdotool"))) struct X11IdleTests {
    @Test func theXServerReportsTheIdleTime() async throws {
        let server = try await XServer()
        let environment = [
            "DISPLAY": server.display, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin",
        ]
        let source = X11Idle(display: server.display)
        try await source.untilIdle(for: .milliseconds(300))
        let began = ContinuousClock.now
        _ = try await ChildProcess.run("xdotool", ["key", "a"], environment: environment)
        let idle = try await source.idleTime()
        #expect(idle <= began.duration(to: .now), "since the key")
        try await source.untilIdle(for: .seconds(1))
        #expect(try await source.idleTime() > .milliseconds(900))
        #expect(began.duration(to: .now) >= .milliseconds(990))
        let touched = Flag()
        let waiting = Task {
            try await source.untilTouched()
            touched.set()
        }
        // Real time is what is tested: the X server is polled once a second, and one poll has to pass.
        try await Task.sleep(for: X11Idle.attention + .milliseconds(200))
        #expect(!touched.isSet)
        var looks = 0
        await eventually(every: .milliseconds(100), "the input is detected") {
            // Every three seconds, for a wait that had not begun at the first.
            if looks.isMultiple(of: 30) {
                let arguments = ["mousemove", "\(20 + looks)", "30"]
                _ = try await ChildProcess.run("xdotool", arguments, environment: environment)
            }
            looks += 1
            return touched.isSet
        }
        try await waiting.value
    }

    @Test func aMissingDisplayIsNotASource() async throws {
        let source = X11Idle(display: ":6553")
        await #expect(throws: IdleSourceUnavailable.self) { try await source.idleTime() }
        var choice = IdleChoice(environment: ["DISPLAY": ":6553"])
        #expect(await choice.best() == nil)
        choice = IdleChoice(environment: ["DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"])
        #expect(choice.display == nil, "Xwayland receives only the input of its own windows")
    }
}
