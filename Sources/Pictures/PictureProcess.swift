import CLinux
import Glibc

/// One run of ffmpeg on bytes that come from anywhere: without privileges, without a network or a disk of its own, with limits
/// for time and memory. What it reads is a file of memory, what it writes goes through a pipe.
struct PictureProcess {
    /// Debian's "nobody" and "nogroup", and the kernel's own number for users it does not know.
    private static let nobody: uid_t = 65_534
    private static let limits: [clinux_spawn_limit] = [
        (RLIMIT_CPU, 60), (RLIMIT_AS, 3 << 30), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 64), (RLIMIT_CORE, 0),
    ].map { clinux_spawn_limit(resource: Int32(bitPattern: $0.0.rawValue), value: $0.1) }

    let executable: String
    let limit: Duration
    /// Of what it writes, in bytes.
    let maximumOutput: Int

    /// Blocks until it has ended.
    /// - Throws: `PictureError`.
    func run(_ arguments: [String], input: [UInt8]) throws(PictureError) -> [UInt8] {
        guard access(executable, X_OK) == 0 else {
            throw PictureError(
                .failed,
                "ffmpeg is not installed (\(executable)); no picture can be opened without it. Debian's package is ffmpeg."
            )
        }
        let source = try Self.memoryFile(input)
        defer { close(source) }
        var output: [Int32] = [-1, -1]
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { if null >= 0 { close(null) } }
        guard null >= 0, clinux_pipe(&output) == 0 else { throw Self.failed(errno) }
        defer { close(output[0]) }
        let process = try start(arguments, descriptors: [source, output[1], null]) { close(output[1]) }
        let deadline = ContinuousClock.now + limit
        let result = Result { () throws(PictureError) in try read(output[0], until: deadline) }
        if case .failure = result { kill(-process, SIGKILL) }
        var exit = clinux_exit()
        _ = clinux_wait_for_exit(process, &exit)
        // Whatever it may have started.
        kill(-process, SIGKILL)
        _ = clinux_reap(process)
        return try result.get()
    }

    private func start(
        _ arguments: [String], descriptors: [Int32], started: () -> Void
    ) throws(PictureError) -> pid_t {
        var texts = (["ffmpeg"] + arguments).map { strdup($0) }
        texts.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
        defer { for text in texts + environment { free(text) } }
        var request = clinux_spawn_request()
        request.descriptor_count = descriptors.count
        request.parent_death_signal = SIGKILL
        request.new_session = true
        request.change_user = geteuid() == 0
        request.user = Self.nobody
        request.group = Self.nobody
        request.forbid_new_privileges = true
        request.limit_count = Self.limits.count
        request.error_descriptor = -1
        let targets = Array(0..<Int32(descriptors.count))
        var failure: Int32 = 0
        let process = executable.withCString { path in
            texts.withUnsafeMutableBufferPointer { texts in
                environment.withUnsafeMutableBufferPointer { environment in
                    descriptors.withUnsafeBufferPointer { descriptors in
                        targets.withUnsafeBufferPointer { targets in
                            Self.limits.withUnsafeBufferPointer { limits in
                                "/".withCString { directory in
                                    request.path = path
                                    request.argv = UnsafePointer(texts.baseAddress)
                                    request.envp = UnsafePointer(environment.baseAddress)
                                    request.working_directory = directory
                                    request.descriptors = descriptors.baseAddress
                                    request.targets = targets.baseAddress
                                    request.limits = limits.baseAddress
                                    return clinux_spawn(&request, &failure)
                                }
                            }
                        }
                    }
                }
            }
        }
        started()
        guard process > 0 else { throw Self.failed(failure) }
        return process
    }

    private func read(_ descriptor: Int32, until deadline: ContinuousClock.Instant) throws(PictureError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let rest = (deadline - .now) / Duration.milliseconds(1)
            guard rest > 0 else {
                throw PictureError(.tookTooLong, "The picture could not be opened in time; add a smaller one.")
            }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(rest.rounded(.up)))
            if ready < 0, errno != EINTR { throw Self.failed(errno) }
            guard ready > 0 else { continue }
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= maximumOutput else {
                throw PictureError(.tooLarge, "The picture is too large; add a smaller one.")
            }
            bytes += piece.prefix(count)
        }
    }

    private static func memoryFile(_ bytes: [UInt8]) throws(PictureError) -> Int32 {
        let file = clinux_memory_file("picture")
        guard file >= 0 else { throw failed(-file) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + offset, $0.count - offset) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(file)
                throw failed(code)
            }
            offset += count
        }
        lseek(file, 0, SEEK_SET)
        return file
    }

    private static func failed(_ code: Int32) -> PictureError {
        PictureError(.failed, "The picture could not be opened (\(String(cString: strerror(code)))); try again.")
    }
}
