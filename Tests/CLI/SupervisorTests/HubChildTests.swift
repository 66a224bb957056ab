import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import Supervisor

@Suite struct HubChildTests {
    private func child(
        hub: String?, listen: String? = nil, isWithoutHub: Bool = false
    ) throws -> (child: HubChild?, report: String) {
        let directory = try TemporaryDirectory()
        var configuration = SupervisorConfiguration(
            stateDirectory: StateDirectory(path: directory.path("state")),
            executables: Executables(applocker: "/a", gate: "/g", daemon: "/d", hub: hub), isWithoutHub: isWithoutHub,
            hubListen: listen)
        let reports = Lines()
        configuration.report = { reports.add($0) }
        let child = HubChild(configuration)
        return (child, reports.text)
    }

    private final class Lines: Sendable {
        private let lines = Mutex("")
        var text: String { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0 += line } }
    }

    @Test func aMissingProgramIsReportedAndNotFatal() throws {
        let (child, report) = try child(hub: nil)
        #expect(child == nil)
        #expect(report.contains("applocker-hub is not installed"))
    }

    @Test func noHubRunsIfItIsTurnedOff() throws {
        let (child, report) = try child(hub: "/h", isWithoutHub: true)
        #expect(child == nil && report.isEmpty)
    }

    @Test func itListensOnLoopbackByDefault() throws {
        let own = try #require(try child(hub: "/h").child)
        #expect(own.listen.hasPrefix("127.0.0.1:84") && own.address == "http://" + own.listen)
        #expect(own.state.hasSuffix("/state/hub"))
        let everywhere = try #require(try child(hub: "/h", listen: "0.0.0.0:9000").child)
        #expect(everywhere.listen == "0.0.0.0:9000" && everywhere.address == "http://127.0.0.1:9000")
        let named = try #require(try child(hub: "/h", listen: "192.168.1.4:9000").child)
        #expect(named.address == "http://192.168.1.4:9000")
    }

    /// A socket that listens on this port of loopback, or -1 if another process uses the port.
    private func listener(on port: UInt16) -> Int32 {
        let occupied = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // As the hub's own check of the port does: ended connections of another hub would block it for a minute.
        var reuse: Int32 = 1
        setsockopt(occupied, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(occupied, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(occupied, 1) == 0
            }
        }
        if isListening { return occupied }
        close(occupied)
        return -1
    }

    @Test func anOccupiedPortIsSkipped() async throws {
        var first = ""
        var occupied: Int32 = -1
        // Another process of these tests may use it first.
        await eventually("the port \(first) is free") {
            first = try child(hub: "/h").child?.listen ?? ""
            occupied = listener(on: UInt16(first.split(separator: ":").last ?? "") ?? 0)
            return occupied >= 0
        }
        defer { close(occupied) }
        let second = try #require(try child(hub: "/h").child)
        #expect(second.listen != first && !first.isEmpty)
    }
}
