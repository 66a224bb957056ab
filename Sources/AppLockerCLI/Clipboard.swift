import CLinux
import Foundation

/// A text on the desktop's clipboard for a while. `applocker-prompt` holds it, in a session of its own that outlives this
/// process; it gets the text in a memory file, so that it is on no disk, in no argument and not in the environment.
enum Clipboard {
    /// Returns when the text can be pasted. Blocks: on a thread of its own.
    ///
    /// - Throws: `CommandLineError` where there is no desktop, or its clipboard can't be had.
    static func hold(_ text: Data, seconds: Int) throws(CommandLineError) {
        let program = OwnExecutable.sibling("applocker-prompt")
        guard access(program, X_OK) == 0 else {
            throw failure("\(program) is missing, which holds the clipboard.")
        }
        let memory = try MemoryFile.make(text)
        defer { close(memory) }
        var answer: [Int32] = [-1, -1]
        guard pipe(&answer) == 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(answer[0]) }
        for end in answer { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let started = start(
            program, ["--hold-clipboard-fd", "3", "--seconds", String(seconds)], memory: memory, output: answer[1])
        close(answer[1])
        guard started == 0 else { throw failure(String(cString: strerror(started))) }
        var first: UInt8 = 0
        // The end of the pipe comes with the end of a process that could not do it, and has said why.
        guard read(answer[0], &first, 1) == 1 else { throw failure("See above.") }
    }

    private static func failure(_ cause: String) -> CommandLineError {
        CommandLineError(.refused, code: "no_clipboard", "Nothing was copied: \(cause)")
    }

    /// - Returns: 0 or an errno.
    private static func start(_ program: String, _ arguments: [String], memory: Int32, output: Int32) -> Int32 {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        let descriptors = [null, output, STDERR_FILENO, memory]
        let targets: [Int32] = [0, 1, 2, 3]
        var failure: Int32 = 0
        let process = argv.withUnsafeMutableBufferPointer { argv in
            descriptors.withUnsafeBufferPointer { descriptors in
                targets.withUnsafeBufferPointer { targets in
                    var request = clinux_spawn_request()
                    request.path = UnsafePointer(argv[0])
                    request.argv = UnsafePointer(argv.baseAddress)
                    request.envp = UnsafePointer(environ)
                    request.descriptors = descriptors.baseAddress
                    request.targets = targets.baseAddress
                    request.descriptor_count = targets.count
                    request.new_session = true
                    request.error_descriptor = -1
                    return clinux_spawn(&request, &failure)
                }
            }
        }
        return process > 0 ? 0 : failure
    }
}

/// A file that exists in memory alone.
enum MemoryFile {
    /// - Returns: a descriptor at the beginning of the content, closed on exec.
    static func make(_ content: Data) throws(CommandLineError) -> Int32 {
        let file = clinux_memory_file("applocker")
        var rest = content[...]
        while file >= 0, !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        guard file >= 0, rest.isEmpty, lseek(file, 0, SEEK_SET) == 0 else {
            throw CommandLineError(
                .refused, code: "failed",
                "Nothing can be handed to AppLocker's window (\(String(cString: strerror(file < 0 ? -file : errno)))).")
        }
        return file
    }
}
