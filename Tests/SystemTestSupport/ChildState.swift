import CLinux
import Foundation
import Synchronization

/// How to start a child.
struct LaunchPlan: Sendable {
    var path: String
    var arguments: [String]
    var environment: [String]
    var descriptors: [Int32: Int32]
    var workingDirectory: String?
    var grouping: ChildProcess.Grouping
    var user: uid_t?
}

/// The state of one child. One thread starts it, waits for it and reaps it: always the same one, because the kernel
/// sends the parent-death signal when the starting thread ends.
final class ChildState: Sendable {
    struct Record {
        var pid: pid_t = 0
        var exit: ChildProcess.Exit?
        var startInstant: ContinuousClock.Instant?
        var exitInstant: ContinuousClock.Instant?
        /// Whether the group outlived its leader, so that its number is still in use by it.
        var groupSurvives = true
        var output = Data()
        var errors = Data()
        /// The reading ends of its output that are not at their end yet.
        var streams: Set<Int32> = []
        var input: Int32 = -1
    }

    let record = Mutex(Record())

    private final class StartOutcome: Sendable {
        let result = Mutex<Result<pid_t, POSIXError>>(.failure(POSIXError(.ECHILD)))
        let done = DispatchSemaphore(value: 0)
    }

    func start(_ plan: LaunchPlan, input: ChildProcess.Input) throws -> pid_t {
        var plan = plan
        var childEnds: [Int32] = []
        defer { for end in childEnds { close(end) } }
        for (number, isOutput) in [(Int32(1), true), (2, false)] where plan.descriptors[number] == nil {
            let pipe = try makePipe()
            plan.descriptors[number] = pipe.write
            childEnds.append(pipe.write)
            record.withLock { _ = $0.streams.insert(pipe.read) }
            collect(from: pipe.read, isOutput: isOutput)
        }
        if plan.descriptors[0] == nil {
            if case .nothing = input {
                let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
                plan.descriptors[0] = null
                childEnds.append(null)
            } else {
                let pipe = try makePipe()
                plan.descriptors[0] = pipe.read
                childEnds.append(pipe.read)
                record.withLock { $0.input = pipe.write }
            }
        }
        let pid = try startOnDedicatedThread(plan)
        if case .text(let text) = input {
            let bytes = Array(text.utf8)
            Thread.detachNewThread { [self] in
                write(bytes)
                closeInput()
            }
        }
        return pid
    }

    private func startOnDedicatedThread(_ plan: LaunchPlan) throws -> pid_t {
        let errorPipe = try makePipe()
        let outcome = StartOutcome()
        Thread.detachNewThread { [self] in
            let started = plan.spawn(errorDescriptor: errorPipe.write)
            close(errorPipe.write)
            if case .success(let pid) = started {
                record.withLock {
                    $0.pid = pid
                    $0.startInstant = .now
                }
            }
            outcome.result.withLock { $0 = started }
            outcome.done.signal()
            if case .success(let pid) = started { waitAndReap(pid, errorPipe: errorPipe.read) }
            close(errorPipe.read)
        }
        outcome.done.wait()
        return try outcome.result.withLock { try $0.get() }
    }

    private func waitAndReap(_ pid: pid_t, errorPipe: Int32) {
        var ended = clinux_exit()
        let failure = clinux_wait_for_exit(pid, &ended)
        precondition(failure == 0, "cannot wait for child \(pid): errno \(failure)")
        var refused: Int32 = 0
        let isRefused = read(errorPipe, &refused, 4) == 4
        record.withLock {
            $0.exitInstant = .now
            $0.exit =
                isRefused ? .notStarted(errno: refused) : ended.signalled ? .signal(ended.code) : .code(ended.code)
            _ = clinux_reap(pid)
            $0.groupSurvives = kill(-pid, 0) == 0
        }
    }

    func send(_ signal: Int32, to pid: pid_t) {
        // Under the lock with which the child is reaped, so its number can't have been reused.
        record.withLock { if $0.exit == nil { _ = kill(pid, signal) } }
    }

    func killGroup() {
        closeInput()
        record.withLock {
            guard $0.pid > 0 else { return }
            if $0.groupSurvives { _ = kill(-$0.pid, SIGKILL) }
            if $0.exit == nil { _ = kill($0.pid, SIGKILL) }
        }
    }

    func write(_ bytes: [UInt8]) {
        signal(SIGPIPE, SIG_IGN)
        // A copy: `closeInput` may close the other one during a write, and its number may be reused.
        let descriptor = record.withLock { $0.input >= 0 ? fcntl($0.input, F_DUPFD_CLOEXEC, 0) : -1 }
        defer { if descriptor >= 0 { close(descriptor) } }
        var rest = bytes[...]
        while !rest.isEmpty, descriptor >= 0 {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    func closeInput() {
        record.withLock {
            if $0.input >= 0 { close($0.input) }
            $0.input = -1
        }
    }

    private func collect(from descriptor: Int32, isOutput: Bool) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            var isOpen = true
            while isOpen {
                var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&readable, 1, -1) > 0 else { continue }
                // Under the lock, so that what is no longer in the pipe is in the record.
                record.withLock {
                    let count = read(descriptor, &buffer, buffer.count)
                    if count < 0 && errno == EINTR { return }
                    guard count > 0 else {
                        close(descriptor)
                        $0.streams.remove(descriptor)
                        isOpen = false
                        return
                    }
                    if isOutput {
                        $0.output.append(contentsOf: buffer[..<count])
                    } else {
                        $0.errors.append(contentsOf: buffer[..<count])
                    }
                }
            }
        }
    }

    /// Whether everything that was written so far is in the record.
    var isOutputRead: Bool {
        record.withLock {
            $0.streams.allSatisfy { stream in
                var readable = pollfd(fd: stream, events: Int16(POLLIN), revents: 0)
                return poll(&readable, 1, 0) == 0
            }
        }
    }
}

private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    let failure = clinux_pipe(&ends)
    guard failure == 0 else { throw POSIXError(.init(rawValue: failure) ?? .EMFILE) }
    return (ends[0], ends[1])
}

extension LaunchPlan {
    fileprivate func spawn(errorDescriptor: Int32) -> Result<pid_t, POSIXError> {
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0 + ($0.hasPrefix("LISTEN_PID=") ? "0000000000" : "")) } + [nil]
        let pathCopy = strdup(path)
        let directory = workingDirectory.map { strdup($0)! }
        defer { for copy in argv + envp + [pathCopy, directory] { free(copy) } }
        let pairs = descriptors.sorted { $0.key < $1.key }
        let sources = pairs.map(\.value)
        let targets = pairs.map(\.key)
        var errorNumber: Int32 = 0
        let pid = sources.withUnsafeBufferPointer { sources in
            targets.withUnsafeBufferPointer { targets in
                argv.withUnsafeBufferPointer { argv in
                    envp.withUnsafeBufferPointer { envp in
                        var request = clinux_spawn_request()
                        request.path = UnsafePointer(pathCopy)
                        request.argv = argv.baseAddress
                        request.envp = envp.baseAddress
                        request.working_directory = UnsafePointer(directory)
                        request.descriptors = sources.baseAddress
                        request.targets = targets.baseAddress
                        request.descriptor_count = sources.count
                        request.parent_death_signal = SIGKILL
                        request.new_process_group = true
                        request.new_session = grouping != .group
                        request.take_terminal = grouping == .terminal
                        if let user {
                            request.change_user = true
                            request.user = user
                            request.group = user
                        }
                        request.error_descriptor = errorDescriptor
                        return clinux_spawn(&request, &errorNumber)
                    }
                }
            }
        }
        guard pid > 0 else { return .failure(POSIXError(.init(rawValue: errorNumber) ?? .EAGAIN)) }
        return .success(pid)
    }
}
