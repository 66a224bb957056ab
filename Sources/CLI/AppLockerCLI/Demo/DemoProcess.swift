import CLinux
import Foundation
import ProcessSpawning
import Synchronization

/// A child process that the demo starts and watches from a thread of its own.
final class DemoProcess: Sendable {
    struct End: Sendable, Equatable {
        /// The errno of a refused execve: nothing of the program ran.
        var startError: Int32?
        var exitCode: Int32?
        var signal: Int32?
        var output: String
    }

    let pid: Int32
    private let stored = Mutex<End?>(nil)

    private init(pid: Int32) { self.pid = pid }

    /// Starts a program without waiting for its execve, which AppLocker may hold. It gets SIGTERM when this process
    /// dies.
    ///
    /// - Parameter log: a descriptor for its standard error, which is left open; -1 for /dev/null.
    /// - Throws: `CommandLineError` if no process could be created.
    static func start(_ path: String, _ arguments: [String], log: Int32 = -1) async throws -> DemoProcess {
        try await withCheckedThrowingContinuation { continuation in
            // The thread that starts it must stay until its end: the death signal is bound to the thread, not the
            // process.
            Thread.detachNewThread {
                do {
                    let (process, errors, output) = try spawn(path, arguments, log: log)
                    continuation.resume(returning: process)
                    process.watch(errors: errors, output: output)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    var end: End? { stored.withLock { $0 } }

    /// Nil if it runs longer.
    func end(within limit: Duration) async -> End? {
        _ = await Demo.holds(within: limit) { self.end != nil }
        return end
    }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// Whether the process has become the program; false while its execve is held.
    func runs(_ program: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) == program
    }

    private static func spawn(
        _ path: String, _ arguments: [String], log: Int32
    ) throws -> (process: DemoProcess, errors: Int32, output: Int32) {
        var errors: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        var failure = clinux_pipe(&errors)
        if failure == 0 { failure = clinux_pipe(&output) }
        guard failure == 0 else { throw notStarted(path, failure) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer {
            for descriptor in [errors[1], output[1], null] { close(descriptor) }
        }
        var request = SpawnRequest(
            executable: path, arguments: [path] + arguments, environment: environment,
            descriptors: [null, output[1], log >= 0 ? log : null])
        request.parentDeathSignal = SIGTERM
        request.errorDescriptor = errors[1]
        do throws(SpawnError) {
            return (DemoProcess(pid: try request.start()), errors[0], output[0])
        } catch {
            throw notStarted(path, error.code)
        }
    }

    private static var environment: [String] {
        ["PATH", "HOME"].compactMap { name in
            ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
        }
    }

    private static func notStarted(_ path: String, _ code: Int32) -> CommandLineError {
        CommandLineError(
            .refused, code: "demo_failed", "\(path) could not be started: \(String(cString: strerror(code))).")
    }

    /// Blocks until the process has ended and was reaped.
    private func watch(errors: Int32, output: Int32) {
        let refusal = SpawnRequest.startError(from: errors)
        close(errors)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        close(output)
        var exit = clinux_exit()
        let failure = clinux_wait_for_exit(pid, &exit)
        _ = clinux_reap(pid)
        let known = failure == 0 && refusal == nil
        let end = End(
            startError: refusal, exitCode: known && !exit.signalled ? exit.code : nil,
            signal: known && exit.signalled ? exit.code : nil, output: String(decoding: text, as: UTF8.self))
        stored.withLock { $0 = end }
    }
}
