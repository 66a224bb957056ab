public import Foundation
import Glibc
import Synchronization

/// A program started by a test. It inherits only what the test names, and its output is captured. It and its process
/// group are killed when the value is released or the tests die.
///
/// Starting never waits for the child's execve, so a held launch doesn't block the test.
public final class ChildProcess: Sendable {
    /// How a child ended.
    public enum Exit: Sendable, Equatable {
        case code(Int32)
        case signal(Int32)
        /// execve, or a step before it, was refused with this errno.
        case notStarted(errno: Int32)
    }

    /// What the child reads on descriptor 0.
    public enum Input: Sendable {
        case nothing
        case text(String)
        /// The text that `write(_:)` sends, until `closeInput()`.
        case pipe
    }

    /// Which process group and session the child belongs to.
    public enum Grouping: Sendable {
        /// Leads a process group in the tests' session.
        case group
        /// Leads a session without a terminal.
        case session
        /// Leads a session whose controlling terminal is the child's descriptor 0.
        case terminal
    }

    public struct TimedOut: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    public let pid: pid_t
    let state: ChildState

    /// Starts `executable`: an absolute path, or a name found on PATH.
    ///
    /// - Parameters:
    ///   - argumentZero: the child's argv[0]; the executable's path by default.
    ///   - environment: the whole environment; the tests' own by default.
    ///   - descriptors: child's number → this process' number. 1 and 2 in here are not captured. The child inherits no
    ///     others.
    ///   - user: the user to drop to (with the group of the same number); root only.
    public init(
        _ executable: String, _ arguments: [String] = [], argumentZero: String? = nil,
        environment: [String: String]? = nil, descriptors: [Int32: Int32] = [:], input: Input = .nothing,
        workingDirectory: String? = nil, grouping: Grouping = .group, user: uid_t? = nil
    ) throws {
        guard let path = Requirement.findProgram(executable) else {
            throw POSIXError(.ENOENT, userInfo: [NSLocalizedDescriptionKey: "no program \(executable)"])
        }
        let plan = LaunchPlan(
            path: path, arguments: [argumentZero ?? path] + arguments,
            environment: (environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" }.sorted(),
            descriptors: descriptors, workingDirectory: workingDirectory, grouping: grouping, user: user)
        state = ChildState()
        pid = try state.start(plan, input: input)
    }

    deinit { state.killGroup() }

    /// How it ended, or nil while it runs.
    public var exit: Exit? { state.record.withLock { $0.exit } }

    /// When it ended, recorded on the thread that waited for it.
    public var exitInstant: ContinuousClock.Instant? { state.record.withLock { $0.exitInstant } }

    /// When the process was created, just before its execve began.
    public var startInstant: ContinuousClock.Instant? { state.record.withLock { $0.startInstant } }

    public var isRunning: Bool { exit == nil }

    public var outputData: Data { state.record.withLock { $0.output } }
    public var errorData: Data { state.record.withLock { $0.errors } }

    /// Standard output so far.
    public var output: String { String(decoding: outputData, as: UTF8.self) }

    /// Standard error so far.
    public var errorOutput: String { String(decoding: errorData, as: UTF8.self) }

    /// Waits for the end and for the rest of the output. Throws `TimedOut`, with the output so far, and leaves the
    /// child running.
    @discardableResult
    public func wait(timeout: Duration = .seconds(60)) async throws -> Exit {
        let clock = ContinuousClock()
        let end = clock.now + timeout
        while clock.now < end {
            if let exit { return await withLastOutput(exit) }
            try await Task.sleep(for: .milliseconds(2))
        }
        // This task may have been suspended for longer than the child ran.
        if let exit { return await withLastOutput(exit) }
        throw TimedOut(
            description: "process \(pid) still ran after \(timeout). Output: \(output) State: \(stateDescription)")
    }

    /// A grandchild may keep the pipes open: this waits for their end for a second at most, but always for what the
    /// child wrote.
    private func withLastOutput(_ exit: Exit) async -> Exit {
        for _ in 0..<500 where state.record.withLock({ !$0.streams.isEmpty }) {
            try? await Task.sleep(for: .milliseconds(2))
        }
        while !state.isOutputRead { try? await Task.sleep(for: .milliseconds(2)) }
        return exit
    }

    /// Sends a signal to the process itself; has no effect once it has ended.
    public func kill(_ signal: Int32 = SIGKILL) { state.send(signal, to: pid) }

    /// Writes to the child's descriptor 0; needs `input: .pipe`.
    public func write(_ text: String) { state.write(Array(text.utf8)) }

    public func closeInput() { state.closeInput() }

    /// Starts a program, waits for it and returns how it ended and what it printed.
    public static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        descriptors: [Int32: Int32] = [:], input: Input = .nothing, workingDirectory: String? = nil,
        user: uid_t? = nil, timeout: Duration = .seconds(60)
    ) async throws -> (exit: Exit, output: String, errorOutput: String) {
        let child = try ChildProcess(
            executable, arguments, environment: environment, descriptors: descriptors, input: input,
            workingDirectory: workingDirectory, user: user)
        let exit = try await child.wait(timeout: timeout)
        return (exit, child.output, child.errorOutput)
    }
}
