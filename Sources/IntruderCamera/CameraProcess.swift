import CLinux
import DaemonCore
import Glibc

/// One run of ffmpeg. All of it on the thread that made it, and `collect` last.
struct CameraProcess: ~Copyable {
    /// Debian's "nobody" and "nogroup", and the kernel's own number for users it does not know.
    private static let nobody: uid_t = 65_534

    private let executable: String
    private let process: pid_t
    private let processDescriptor: Int32
    private let output: Int32
    private let errors: Int32
    private let startFailure: Int32

    /// Starts it: as nobody where this process is root, in a session of its own, with no descriptor but its two pipes.
    ///
    /// - Throws: `PhotoSourceError`.
    init(executable: String, source: CameraSource) throws(PhotoSourceError) {
        guard access(executable, X_OK) == 0 else { throw Self.missing(executable) }
        let output = try Pipe()
        let errors = try Pipe()
        let startFailure = try Pipe()
        let null = OwnedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))
        guard null.number >= 0 else { throw Self.failed("/dev/null", errno) }

        let started = Self.start(
            executable, source, descriptors: [null.number, output.write.number, errors.write.number],
            errorDescriptor: startFailure.write.number)
        guard case .success(let process) = started else {
            if case .failure(let failure) = started { throw Self.failed("a process", failure.number) }
            throw Self.failed("a process", EAGAIN)
        }
        let processDescriptor = clinux_pidfd_open(process)
        guard processDescriptor >= 0 else {
            kill(-process, SIGKILL)
            var exit = clinux_exit()
            _ = clinux_wait_for_exit(process, &exit)
            _ = clinux_reap(process)
            throw Self.failed("a process", -processDescriptor)
        }
        self.executable = executable
        self.process = process
        self.processDescriptor = processDescriptor
        self.output = output.read.taken()
        self.errors = errors.read.taken()
        self.startFailure = startFailure.read.taken()
    }

    deinit {
        for descriptor in [processDescriptor, output, errors, startFailure] { close(descriptor) }
    }

    /// Reads until ffmpeg has ended.
    ///
    /// - Throws: `PhotoSourceError` for no picture in time, none at all, or something else than one JPEG.
    func picture(within limit: Duration) throws(PhotoSourceError) -> [UInt8] {
        let bytes = PictureBuffer(capacity: FFmpegCamera.maximumBytes)
        var complaint: [UInt8] = []
        let deadline = ContinuousClock.now + limit
        var waits = [output, errors, processDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var hasEnded = false
        while !hasEnded {
            let rest = (deadline - .now) / Duration.milliseconds(1)
            guard rest > 0 else {
                throw PhotoSourceError(
                    .tookTooLong, "The camera gave no picture within \(limit.formattedSeconds) seconds.")
            }
            let ready = poll(&waits, nfds_t(waits.count), Int32(rest.rounded(.up)))
            if ready < 0, errno != EINTR { throw Self.failed("the camera", errno) }
            guard ready > 0 else { continue }
            hasEnded = waits[2].revents != 0
            // After its end nothing more comes: what is there is all there is, even where a child of it lives on.
            if hasEnded { Self.makeNonBlocking([output, errors]) }
            if waits[0].revents != 0 || hasEnded {
                switch bytes.fill(from: output, untilEmpty: hasEnded) {
                case .more: break
                case .ended: waits[0].fd = -1
                case .full: throw PhotoSourceError(.failed, "The camera gave a picture of more than 8 MiB.")
                }
            }
            if waits[1].revents != 0 || hasEnded, !Self.read(errors, into: &complaint, untilEmpty: hasEnded) {
                waits[1].fd = -1
            }
        }
        try checkStart()
        guard bytes.isOneJPEG else { throw PhotoSourceError(.failed, Self.sentence(complaint)) }
        return bytes.copy()
    }

    /// Kills what is left of it, its whole group. False where it still has not ended after `time`; `collect` waits on.
    func end(within time: Duration) -> Bool {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
        guard clinux_wait_for_pidfd(processDescriptor, Int32(time / .milliseconds(1))) else { return false }
        collect()
        return true
    }

    /// Blocks until it has ended, and takes its number from it.
    func collect() {
        var exit = clinux_exit()
        _ = clinux_wait_for_exit(process, &exit)
        _ = clinux_reap(process)
    }

    private func checkStart() throws(PhotoSourceError) {
        Self.makeNonBlocking([startFailure])
        var number: Int32 = 0
        guard Glibc.read(startFailure, &number, 4) == 4 else { return }
        if number == ENOENT { throw Self.missing(executable) }
        throw Self.failed("ffmpeg", number)
    }

    private static func makeNonBlocking(_ descriptors: [Int32]) {
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
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

// MARK: What is said

extension CameraProcess {
    private static func missing(_ executable: String) -> PhotoSourceError {
        PhotoSourceError(
            .noCamera,
            "ffmpeg is not installed (\(executable)); without it no picture can be taken. Debian's package is ffmpeg.")
    }

    private static func failed(_ what: String, _ number: Int32) -> PhotoSourceError {
        PhotoSourceError(.failed, "No picture could be taken: \(what): \(String(cString: strerror(number))).")
    }

    /// ffmpeg's last line, short and without any path but a device's.
    static func sentence(_ complaint: [UInt8]) -> String {
        let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = (lines.last ?? "").unicodeScalars.map { $0.isASCII && $0.value >= 0x20 ? Character($0) : " " }
            .split(separator: " ").map { String($0) }
            .map { $0.contains("/") && !$0.hasPrefix("/dev/video") && !$0.hasPrefix("/dev/v4l/") ? "…" : $0 }
        let cause = String(words.joined(separator: " ").prefix(160))
        return cause.isEmpty ? "The camera gave no picture." : "The camera gave no picture (\(cause))."
    }
}

extension Duration {
    fileprivate var formattedSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
    }
}

// MARK: The start

extension CameraProcess {
    private struct StartFailure: Error {
        let number: Int32
    }

    /// What one picture takes, with room: ffmpeg needs well under a second of processor time.
    private static let limits: [clinux_spawn_limit] = [
        (RLIMIT_CPU, 10), (RLIMIT_AS, 2 << 30), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 64), (RLIMIT_CORE, 0),
    ].map { clinux_spawn_limit(resource: Int32(bitPattern: $0.0.rawValue), value: $0.1) }

    private static func start(
        _ executable: String, _ source: CameraSource, descriptors: [Int32], errorDescriptor: Int32
    ) -> Result<pid_t, StartFailure> {
        let memory = RequestMemory()
        let groups = source.group.map { [$0] } ?? []
        var request = clinux_spawn_request()
        request.path = memory.text(executable)
        request.argv = memory.texts(["ffmpeg"] + source.arguments)
        request.envp = memory.texts(["PATH=/usr/bin:/bin"])
        request.working_directory = memory.text("/")
        request.descriptors = memory.values(descriptors)
        request.targets = memory.values(Array(0..<Int32(descriptors.count)))
        request.descriptor_count = descriptors.count
        request.parent_death_signal = SIGKILL
        request.new_session = true
        request.change_user = geteuid() == 0
        request.user = nobody
        request.group = nobody
        request.further_groups = memory.values(groups)
        request.further_group_count = groups.count
        request.forbid_new_privileges = true
        request.limits = memory.values(limits)
        request.limit_count = limits.count
        request.error_descriptor = errorDescriptor
        var failure: Int32 = 0
        let process = withExtendedLifetime(memory) { clinux_spawn(&request, &failure) }
        return process > 0 ? .success(process) : .failure(StartFailure(number: failure))
    }
}

/// What the pointers of a request point to; freed with it.
private final class RequestMemory {
    private var allocations: [UnsafeMutableRawPointer] = []

    deinit { for allocation in allocations { free(allocation) } }

    func text(_ text: String) -> UnsafePointer<CChar> {
        let copy = strdup(text)!
        allocations.append(copy)
        return UnsafePointer(copy)
    }

    /// Ends with a null pointer.
    func texts(_ texts: [String]) -> UnsafePointer<UnsafeMutablePointer<CChar>?> {
        values(texts.map { UnsafeMutablePointer(mutating: text($0)) } + [nil])
    }

    func values<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafePointer<Value> {
        let memory = malloc(max(values.count, 1) * MemoryLayout<Value>.stride)!
        allocations.append(memory)
        let copy = memory.bindMemory(to: Value.self, capacity: max(values.count, 1))
        copy.initialize(from: values, count: values.count)
        return UnsafePointer(copy)
    }
}
