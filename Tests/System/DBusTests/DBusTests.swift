import DBus
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@Suite(.requires(.program("dbus-daemon")))
struct DBusTests {
    private static let echo = BusInterface(
        "test.Echo",
        methods: [
            "Same": .init(arguments: "v", returns: "v") { arguments, _ in arguments },
            "Fail": .init { _, _ in throw BusError(.refused, name: "test.Error.Tired", "It is tired.") },
            "Lie": .init(returns: "s") { _, _ in [.int32(1)] },
        ],
        properties: ["Answer": .init("i") { .int32(42) }, "Name": .init("s") { .string("Écho") }],
        signals: ["Rang": "su"])

    private func echoed(_ value: BusValue, over bus: DBusConnection, to name: String) async throws -> BusValue {
        let answer = try await bus.call(name, "/echo", "test.Echo", "Same", [.variant(value)])
        guard case .variant(let content)? = answer.first else { throw BusError(.invalid, "no variant") }
        return content
    }

    @Test func everyTypeOfValueCrossesTheBusUnchanged() async throws {
        let bus = try await PrivateBus()
        let server = try DBusConnection(.address(bus.address))
        let client = try DBusConnection(.address(bus.address))
        try await server.export("/echo", [Self.echo])
        try await server.own("test.Server")
        let values: [BusValue] = [
            .byte(255), .bool(true), .bool(false), .int16(-2), .uint16(65_535), .int32(.min), .uint32(.max),
            .int64(.min), .uint64(.max), .double(-0.5), .string("ä\n\u{1F512}"), .string(""),
            .objectPath("/a/b"), .signature("a{sv}"), .strings([]), .strings(["a", "b"]),
            .structure([.int32(1), .structure([.string("x"), .strings(["y"])])]),
            .options(["one": .int32(1), "list": .array(of: "(iiay)", [])]),
            .array(of: "(iiay)", [.structure([.int32(1), .int32(2), .array(of: "y", [.byte(1), .byte(2)])])]),
            .dictionary(keys: "i", values: "as", [.init(.int32(3), .strings(["z"]))]),
            .variant(.variant(.uint32(7))), .array(of: "v", [.variant(.bool(true)), .variant(.string("s"))]),
        ]
        for value in values { #expect(try await echoed(value, over: client, to: "test.Server") == value) }
    }

    @Test func aDescriptorIsReceivedAsADuplicate() async throws {
        let bus = try await PrivateBus()
        let server = try DBusConnection(.address(bus.address))
        let client = try DBusConnection(.address(bus.address))
        try await server.export("/echo", [Self.echo])
        try await server.own("test.Server")
        let pipe = Pipe()
        let sent = try BusDescriptor(duplicating: pipe.fileHandleForWriting.fileDescriptor)
        let back = try await echoed(.descriptor(sent), over: client, to: "test.Server")
        let received = try #require(back.descriptor)
        sent.close()
        try pipe.fileHandleForWriting.close()
        let written: Void? = received.withNumber { FileHandle(fileDescriptor: $0).write(Data("hello".utf8)) }
        #expect(written != nil)
        received.close()
        #expect(!received.isOpen)
        server.close()  // closes its duplicates too
        await server.untilEnd()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("hello".utf8))
    }

    @Test func errorsKeepTheirNameAndMessage() async throws {
        let bus = try await PrivateBus()
        let server = try DBusConnection(.address(bus.address))
        let client = try DBusConnection(.address(bus.address))
        try await server.export("/echo", [Self.echo])
        try await server.own("test.Server")
        await #expect(throws: BusError(.refused, name: "test.Error.Tired", "It is tired.")) {
            try await client.call("test.Server", "/echo", "test.Echo", "Fail")
        }
        for (member, arguments, name) in [
            ("Same", [BusValue.int32(1)], "org.freedesktop.DBus.Error.InvalidArgs"),
            ("None", [], "org.freedesktop.DBus.Error.UnknownMethod"), ("Lie", [], "org.freedesktop.DBus.Error.Failed"),
        ] {
            let error = await #expect(throws: BusError.self) {
                try await client.call("test.Server", "/echo", "test.Echo", member, arguments)
            }
            #expect(error?.code == .refused)
            #expect(error?.name == name)
        }
        let missing = await #expect(throws: BusError.self) { try await client.call("test.None", "/", "a.b", "C") }
        #expect(missing?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
        for wrong in [BusValue.objectPath("no path"), .string("a\0b"), .array(of: "s", [.int32(1)])] {
            let error = await #expect(throws: BusError.self) {
                try await client.call("test.Server", "/echo", "test.Echo", "Same", [.variant(wrong)])
            }
            #expect(error?.code == .invalid)
        }
        #expect(try await echoed(.bool(true), over: client, to: "test.Server") == .bool(true))
    }

    @Test func propertiesAreReadAndTheirChangesAreSignalled() async throws {
        let bus = try await PrivateBus()
        let server = try DBusConnection(.address(bus.address))
        let client = try DBusConnection(.address(bus.address))
        try await server.export("/echo", [Self.echo])
        try await server.own("test.Server")
        #expect(try await client.property("test.Server", "/echo", "test.Echo", "Answer") == .int32(42))
        #expect(
            try await client.properties("test.Server", "/echo", "test.Echo")
                == ["Answer": .int32(42), "Name": .string("Écho")])
        let changes = try await client.signals(
            from: "test.Server", path: "/echo", interface: "org.freedesktop.DBus.Properties")
        try await server.emit(
            "/echo", "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.string("test.Echo"), .options(["Answer": .int32(43)]), .strings([])])
        var iterator = changes.makeAsyncIterator()
        let change = try #require(await iterator.next())
        #expect(change.arguments[0] == .string("test.Echo"))
        #expect(change.arguments[1].options == ["Answer": .int32(43)])
        let read = await #expect(throws: BusError.self) {
            try await client.call(
                "test.Server", "/echo", "org.freedesktop.DBus.Properties", "Set",
                [.string("test.Echo"), .string("Answer"), .variant(.int32(1))])
        }
        #expect(read?.name == "org.freedesktop.DBus.Error.PropertyReadOnly")
        let text = try await client.call(
            "test.Server", "/echo", "org.freedesktop.DBus.Introspectable", "Introspect"
        ).first?.text
        #expect(text?.contains("<signal name=\"Rang\"><arg type=\"s\"/><arg type=\"u\"/></signal>") == true)
    }

    @Test func aSignalThatTheNamesOwnerDidNotSendIsIgnored() async throws {
        let bus = try await PrivateBus()
        let owner = try DBusConnection(.address(bus.address))
        let listener = try DBusConnection(.address(bus.address))
        try await owner.own("test.Server")
        let signals = try await listener.signals(from: "test.Server", interface: "test.Echo", member: "Rang")
        // Sent directly to the listener: match rules don't filter it.
        let name = try await listener.uniqueName()
        let forged = try await ChildProcess.run(
            "/usr/bin/dbus-send", ["--bus=\(bus.address)", "--dest=\(name)", "/x", "test.Echo.Rang", "string:forged"])
        #expect(forged.exit == .code(0))
        try await owner.emit("/x", "test.Echo", "Rang", [.string("true")])
        var iterator = signals.makeAsyncIterator()
        #expect(await iterator.next()?.arguments == [.string("true")])
        owner.close()
        #expect(await iterator.next() == nil)
    }

    @Test func theEndOfTheBusEndsSignalsAndCalls() async throws {
        let bus = try await PrivateBus()
        let client = try DBusConnection(.address(bus.address))
        let server = try DBusConnection(.address(bus.address))
        try await server.own("test.Server")
        let signals = try await client.signals(interface: "test.Echo")
        bus.daemon.kill()
        await client.untilEnd()
        #expect(!client.isOpen)
        for await _ in signals { Issue.record("a signal after the end") }
        let error = await #expect(throws: BusError.self) { try await client.call("test.Server", "/", "a.b", "C") }
        #expect(error?.code == .closed)
        let unreachable = #expect(throws: BusError.self) {
            try DBusConnection(.address("unix:path=/nonexistent/bus"))
        }
        #expect(unreachable?.code == .unreachable)
    }

    @Test func aCallWithoutReplyEndsAtItsTimeoutAndWhenTheConnectionCloses() async throws {
        let bus = try await PrivateBus()
        let client = try DBusConnection(.address(bus.address))
        // A stopped process that owns a name and never replies.
        let silent = try ChildProcess(
            "/usr/bin/python3", ["-c", Self.silentOwner], environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        await eventually("it owns its name: \(silent.stateDescription)") { silent.output.contains("ready") }
        let late = await #expect(throws: BusError.self) {
            try await client.call("test.Silent", "/", "a.b", "C", timeout: .milliseconds(50))
        }
        #expect(late?.code == .timedOut)
        // A server that delays its reply until the end of the test.
        let isCalled = Mutex(false)
        let isOver = DispatchSemaphore(value: 0)
        let server = try DBusConnection(.address(bus.address))
        let holding = BusInterface(
            "test.Holding",
            methods: [
                "Hold": .init { _, _ in
                    isCalled.withLock { $0 = true }
                    isOver.wait()
                    return []
                }
            ])
        try await server.export("/holding", [holding])
        try await server.own("test.Holding")
        async let waiting = client.call("test.Holding", "/holding", "test.Holding", "Hold")
        await eventually("it is called") { isCalled.withLock { $0 } }
        client.close()
        do {
            _ = try await waiting
            Issue.record("a reply before the server sent one")
        } catch { #expect((error as? BusError)?.code == .closed) }
        isOver.signal()
    }

    private static let silentOwner = """
        import dbus, time
        bus = dbus.SessionBus()
        bus.request_name("test.Silent")
        print("ready", flush=True)
        time.sleep(600)
        """

    @Test func aNameHasOneOwner() async throws {
        let bus = try await PrivateBus()
        let first = try DBusConnection(.address(bus.address))
        let second = try DBusConnection(.address(bus.address))
        #expect(try await second.owner(of: "test.Name") == nil)
        let changes = try await second.owners(of: "test.Name")
        try await first.own("test.Name")
        try await first.own("test.Name")
        let error = await #expect(throws: BusError.self) { try await second.own("test.Name") }
        #expect(error?.code == .nameTaken)
        let unique = try await first.uniqueName()
        #expect(try await second.owner(of: "test.Name") == unique)
        first.close()
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == .some(unique))
        #expect(await iterator.next() == .some(nil))
    }

    @Test func anIdleConnectionCausesNoWakeups() async throws {
        let bus = try await PrivateBus()
        func threads() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))
        }
        func status(_ thread: String) throws -> String {
            try String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)
        }
        // An earlier test's connection may still be closing.
        let others = try threads()
        let client = try DBusConnection(.address(bus.address))
        _ = try await client.signals(interface: "test.Echo")
        let own = try threads().subtracting(others).filter {
            (try? status($0))?.contains("Name:\tmessage-bus") == true
        }
        let thread = try #require(own.count == 1 ? own.first : nil, "the threads of one connection: \(own)")
        func switches() throws -> Int {
            let line = try status(thread).split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            return try #require(line.flatMap { Int($0.split(separator: "\t").last ?? "") })
        }
        var before = 0
        // Real time is what is tested: a polling thread would wake up in it.
        await eventually(every: .milliseconds(600), "the connection is idle") {
            let now = try switches()
            defer { before = now }
            return now > 0 && now == before
        }
    }
}
