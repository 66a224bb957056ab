import CLinux
import Glibc

/// What a confined process may use. It writes no file and leaves no core.
public struct Confinement: Sendable {
    /// Debian's "nobody" and "nogroup", and the kernel's own number for unmapped users.
    static let nobody: UInt32 = 65_534

    let processorSeconds: UInt64
    let addressSpace: UInt64
    let groups: [UInt32]

    /// - Parameters:
    ///   - addressSpace: in bytes.
    ///   - groups: those beside nobody's own, for a device that it needs.
    public init(processorSeconds: UInt64, addressSpace: UInt64, groups: [UInt32] = []) {
        self.processorSeconds = processorSeconds
        self.addressSpace = addressSpace
        self.groups = groups
    }

    var limits: [clinux_spawn_limit] {
        [
            (RLIMIT_CPU, processorSeconds), (RLIMIT_AS, addressSpace), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 64),
            (RLIMIT_CORE, 0),
        ].map { clinux_spawn_limit(resource: Int32(bitPattern: $0.0.rawValue), value: $0.1) }
    }
}

public enum ConfinedProcessError: Error, Equatable, Sendable {
    /// The program is missing, or its interpreter.
    case missing
    case tookTooLong
    case tooMuchOutput
    /// What failed, and its errno.
    case failed(String, code: Int32)
}

/// One run of a program that reads bytes of any origin, as ffmpeg does: as the user nobody if this process is root, without
/// new privileges, in a session of its own, with no descriptor but its standard ones. The kernel kills it with the
/// thread that started it, on which all calls belong, `end` or `collect` last.
public struct ConfinedProcess: ~Copyable {
    private let process: Int32
    private let processDescriptor: OwnedDescriptor
    private let output: OwnedDescriptor
    private let errors: OwnedDescriptor
    private let startFailure: OwnedDescriptor

    /// - Parameters:
    ///   - executable: absolute path.
    ///   - arguments: from `argv[0]`.
    ///   - input: becomes its standard input; nil: nothing to read.
    public init(
        executable: String, arguments: [String], input: Int32? = nil, confinement: Confinement
    ) throws(ConfinedProcessError) {
        guard access(executable, X_OK) == 0 else { throw .missing }
        let (output, errors, startFailure) = (try Pipe(), try Pipe(), try Pipe())
        let null = OwnedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))
        guard null.number >= 0 else { throw .failed("/dev/null", code: errno) }
        var request = SpawnRequest(
            executable: executable, arguments: arguments, environment: ["PATH=/usr/bin:/bin"], workingDirectory: "/",
            descriptors: [input ?? null.number, output.write.number, errors.write.number])
        request.group = .session
        request.parentDeathSignal = SIGKILL
        request.errorDescriptor = startFailure.write.number
        request.confinement = confinement
        let process: Int32
        do throws(SpawnError) {
            process = try withExtendedLifetime((null, output, errors, startFailure)) { () throws(SpawnError) in
                try request.start()
            }
        } catch {
            throw .failed("a process", code: error.code)
        }
        let processDescriptor = clinux_pidfd_open(process)
        guard processDescriptor >= 0 else {
            kill(-process, SIGKILL)
            kill(process, SIGKILL)
            Self.collect(process)
            throw .failed("a process", code: -processDescriptor)
        }
        self.process = process
        self.processDescriptor = OwnedDescriptor(processDescriptor)
        self.output = output.read
        self.errors = errors.read
        self.startFailure = startFailure.read
    }

    /// Reads until the process has ended.
    ///
    /// - Returns: its standard output, and the first 4 KiB of its standard error.
    public func read(
        within limit: Duration, maximumBytes: Int
    ) throws(ConfinedProcessError) -> (output: OutputBuffer, errors: [UInt8]) {
        let bytes = OutputBuffer(capacity: maximumBytes)
        var complaint: [UInt8] = []
        let deadline = ContinuousClock.now + limit
        var waits = [output, errors, processDescriptor].map {
            pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
        }
        var hasEnded = false
        while !hasEnded {
            let rest = (deadline - .now) / Duration.milliseconds(1)
            guard rest > 0 else { throw .tookTooLong }
            let ready = poll(&waits, nfds_t(waits.count), Int32(rest.rounded(.up)))
            if ready < 0, errno != EINTR { throw .failed("its output", code: errno) }
            guard ready > 0 else { continue }
            hasEnded = waits[2].revents != 0
            // What is there after its end is everything, even where a child of it still holds the pipe.
            if hasEnded { Self.makeNonBlocking([output, errors]) }
            if waits[0].revents != 0 || hasEnded {
                switch bytes.fill(from: output.number, untilEmpty: hasEnded) {
                case .more: break
                case .ended: waits[0].fd = -1
                case .full: throw .tooMuchOutput
                }
            }
            if waits[1].revents != 0 || hasEnded,
                !Self.read(errors.number, into: &complaint, untilEmpty: hasEnded)
            {
                waits[1].fd = -1
            }
        }
        Self.makeNonBlocking([startFailure])
        if let code = SpawnRequest.startError(from: startFailure.number) {
            throw code == ENOENT ? .missing : .failed("the program", code: code)
        }
        return (bytes, complaint)
    }

    /// Kills what is left of it, its whole group. False where it still has not ended after `time`; `collect` waits on.
    public func end(within time: Duration) -> Bool {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
        guard clinux_wait_for_pidfd(processDescriptor.number, Int32(time / .milliseconds(1))) else { return false }
        collect()
        return true
    }

    /// Blocks until it has ended, and frees its number.
    public func collect() { Self.collect(process) }

    private static func collect(_ process: Int32) {
        var exit = clinux_exit()
        _ = clinux_wait_for_exit(process, &exit)
        _ = clinux_reap(process)
    }

    private static func makeNonBlocking(_ descriptors: [OwnedDescriptor]) {
        for descriptor in descriptors { _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK) }
    }

    /// Keeps the first 4 KiB and drops the rest. False at the end.
    private static func read(_ descriptor: Int32, into text: inout [UInt8], untilEmpty: Bool) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        repeat {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            text += buffer.prefix(min(count, 4096 - text.count))
        } while untilEmpty
        return true
    }
}
