import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// A private AppLocker: `applocker up` on its own directory, as root with the kernel holding launches, else in the weak
/// mode. Everything is ended and removed when the value is released.
final class CommandLineFixture: Sendable {
    /// One finished command.
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String

        /// The JSON object that was printed.
        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        }
    }

    static let passcode = "correct horse 9"

    let directory: TemporaryDirectory
    private let supervisor: ChildProcess

    var socket: String { directory.path("state/control.sock") }

    /// - Parameter isSetUp: whether the passcode is set already.
    init(isSetUp: Bool = true) async throws {
        directory = try TemporaryDirectory()
        supervisor = try ChildProcess(
            BuiltProducts.path("applocker"),
            ["up", "--state", directory.path("state"), "--no-hub"] + (geteuid() == 0 ? [] : ["--user-mode"]))
        let isReady = await eventually("applocker up answers and has a gate") {
            let status = try await run("status", "--json")
            return status.status == 0 && !status.output.contains("gate_away")
        }
        try #require(isReady, "\(supervisor.errorOutput)")
        if isSetUp { try #require(try await run("setup", passcodes: [Self.passcode]).status == 0) }
    }

    /// Ends AppLocker in order, so that no launch stays held.
    func end() async throws {
        supervisor.kill(SIGINT)
        #expect(try await supervisor.wait() == .code(0))
    }

    /// Waits until AppLocker has ended by itself, in order.
    func ended() async throws { #expect(try await supervisor.wait() == .code(0)) }

    /// Runs `applocker` with these arguments; the passcodes are lines of descriptor 3.
    func run(_ arguments: String..., passcodes: [String]? = nil, timeout: Duration = .seconds(60)) async throws
        -> Outcome
    {
        let child = try start(arguments, passcodes: passcodes)
        guard case .code(let status) = try await child.wait(timeout: timeout) else {
            throw POSIXError(
                .ECHILD, userInfo: [NSLocalizedDescriptionKey: "applocker \(arguments) was ended by a signal"])
        }
        return Outcome(status: status, output: child.output, errors: child.errorOutput)
    }

    /// - Parameter more: variables in addition to the environment of every command.
    func start(_ arguments: [String], passcodes: [String]? = nil, more: [String: String] = [:]) throws -> ChildProcess {
        let environment = environment.merging(more) { $1 }
        let words = arguments + (passcodes == nil ? [] : ["--passcode-fd", "3"])
        guard let passcodes else { return try ChildProcess(try path, words, environment: environment) }
        let lines = Pipe()
        try lines.fileHandleForWriting.write(contentsOf: Data(passcodes.map { $0 + "\n" }.joined().utf8))
        try lines.fileHandleForWriting.close()
        let child = try ChildProcess(
            try path, words, environment: environment, descriptors: [3: lines.fileHandleForReading.fileDescriptor])
        withExtendedLifetime(lines) {}
        return child
    }

    private var path: String { get throws { try BuiltProducts.path("applocker") } }

    var environment: [String: String] {
        ["APPLOCKER_SOCKET": socket, "PATH": "/usr/bin:/bin", "HOME": directory.path]
    }

    /// A copy of a system program, to be locked.
    func copy(of program: String, as name: String) throws -> String {
        let path = directory.path(name)
        try Data(contentsOf: URL(fileURLWithPath: program)).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }
}

/// A private terminal: what a program writes to it, and the keys that are typed.
final class TestTerminal: Sendable {
    private let master: Int32
    /// For the program: its descriptors 0, 1 and 2.
    let slave: Int32
    private let shown = Mutex("")

    init() throws {
        var ends: (master: Int32, slave: Int32) = (-1, -1)
        guard openpty(&ends.master, &ends.slave, nil, nil, nil) == 0 else { throw POSIXError(.ENXIO) }
        (master, slave) = ends
        _ = fcntl(master, F_SETFD, FD_CLOEXEC)
        _ = fcntl(slave, F_SETFD, FD_CLOEXEC)
        Thread.detachNewThread { [self, master] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(master, &buffer, buffer.count)
                guard count > 0 else { return }
                shown.withLock { $0 += String(decoding: buffer[..<count], as: UTF8.self) }
            }
        }
    }

    var text: String { shown.withLock { $0 } }

    func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        #expect(write(master, bytes, bytes.count) == bytes.count)
    }

    /// Whether typed characters are echoed, by the terminal's settings.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    @discardableResult
    func shows(_ words: String, timeout: Duration = .seconds(60), times: Int = 1) async -> Bool {
        await eventually(timeout: timeout, "the terminal shows \(words)") {
            text.components(separatedBy: words).count - 1 >= times
        }
    }

    /// Starts a program whose controlling terminal this is.
    func start(_ path: String, _ arguments: [String], environment: [String: String]) throws -> ChildProcess {
        try ChildProcess(
            path, arguments, environment: environment, descriptors: [0: slave, 1: slave, 2: slave], grouping: .terminal)
    }
}
