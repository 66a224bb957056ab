import CLinux
public import ControlAPI
import Foundation
import ProcessSpawning

/// Why a launch could not be started again.
public enum ExecRequestError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A field is not base64, holds a zero byte, or there is no argument at all.
    case malformed(field: String)
    /// The process could not be made or the program not be started; `code` is the errno.
    case notStarted(path: String, code: Int32)

    public var description: String {
        switch self {
        case .malformed(let field):
            "AppLocker's response has a launch with an invalid \(field). Start the app again yourself."
        case .notStarted(let path, let code):
            "\(path) could not be started: \(String(cString: strerror(code)))."
        }
    }
}

extension ExecRequest {
    /// Starts the program as a child of this process, with exactly the exec request's arguments, environment and directory,
    /// in a session of its own without a terminal: it outlives this process and no Ctrl-C reaches it. Its standard
    /// input is /dev/null; output and errors go where this process' own go.
    ///
    /// Returns as soon as the child exists, which may be before its program runs: the gate may still look at its
    /// execve. The child is waited for and collected on a thread of its own.
    ///
    /// LISTEN_PID is left out: it named the process that was denied, and the sockets meant for that one are gone
    /// (sd_listen_fds(3) makes any other process ignore it).
    ///
    /// - Parameter onFailure: called on that thread where the program turned out not to start.
    /// - Returns: the child's process number.
    /// - Throws: `ExecRequestError` where no child could be made.
    @discardableResult
    public func start(
        onFailure: @escaping @Sendable (ExecRequestError) -> Void = { _ in }
    ) throws(ExecRequestError) -> Int32 {
        try spawn { if let error = $0 { onFailure(error) } }
    }

    /// As `start`, and returns once the program runs. For a process that ends soon after: the gate knows the launch by
    /// its parent.
    ///
    /// - Throws: `ExecRequestError` where no child could be made or the program did not start.
    public func startAndConfirm() async throws -> Int32 {
        let (outcomes, outcome) = AsyncStream<ExecRequestError?>.makeStream()
        let process = try spawn { outcome.yield($0) }
        for await error in outcomes {
            if let error { throw error }
            break
        }
        return process
    }

    /// - Parameter onOutcome: called once on a thread of its own, with nil when the program runs.
    private func spawn(
        onOutcome: @escaping @Sendable (ExecRequestError?) -> Void
    ) throws(ExecRequestError) -> Int32 {
        let path = try Self.bytes(path, "path")
        let directory = try Self.bytes(directory, "directory")
        let arguments = try arguments.map { encoded throws(ExecRequestError) in try Self.bytes(encoded, "argument") }
        let environment = try environment.map { encoded throws(ExecRequestError) in
            try Self.bytes(encoded, "environment")
        }
        guard !arguments.isEmpty else { throw .malformed(field: "argument list") }
        guard path.count > 1 else { throw .malformed(field: "path") }
        let shownPath = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)

        var errorPipe: [Int32] = [-1, -1]
        let failure = clinux_pipe(&errorPipe)
        guard failure == 0 else { throw .notStarted(path: shownPath, code: failure) }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { if null >= 0 { close(null) } }

        let listenPID = Array("LISTEN_PID=".utf8CString.dropLast())
        var request = SpawnRequest(
            executable: path, arguments: arguments, environment: environment.filter { !$0.starts(with: listenPID) },
            workingDirectory: directory.count > 1 ? directory : nil, descriptors: [null, 1, 2])
        request.group = .session
        request.errorDescriptor = errorPipe[1]
        let child: Int32
        do throws(SpawnError) {
            defer { close(errorPipe[1]) }
            child = try request.start()
        } catch {
            close(errorPipe[0])
            throw .notStarted(path: shownPath, code: error.code)
        }
        let errorEnd = errorPipe[0]
        Thread.detachNewThread {
            let code = SpawnRequest.startError(from: errorEnd)
            close(errorEnd)
            onOutcome(code.map { .notStarted(path: shownPath, code: $0) })
            var exit = clinux_exit()
            if clinux_wait_for_exit(child, &exit) == 0 { _ = clinux_reap(child) }
        }
        return child
    }

    /// The bytes of a base64 field with a zero at the end, as C requires.
    private static func bytes(_ encoded: String, _ field: String) throws(ExecRequestError) -> [CChar] {
        guard let data = Data(base64Encoded: encoded), !data.contains(0) else { throw .malformed(field: field) }
        return data.map { CChar(bitPattern: $0) } + [0]
    }
}
