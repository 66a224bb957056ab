import CLinux
import Foundation

/// `applocker-prompt` as a process beside this one: what it shows it gets in a memory file, so that it is on no disk, in no
/// argument and not in the environment.
enum WindowProcess {
    /// - Parameter content: on its descriptor 3.
    /// - Parameter output: becomes its standard output; nil: none.
    /// - Parameter outlivesThis: it gets a session of its own; else Ctrl-C ends it with this process.
    /// - Returns: its process id, to be waited for.
    /// - Throws: `CommandLineError` where it is missing or can't be started.
    static func start(
        _ arguments: [String], content: Data, output: Int32? = nil, outlivesThis: Bool = false
    ) throws(CommandLineError) -> pid_t {
        let program = OwnExecutable.sibling("applocker-prompt")
        guard access(program, X_OK) == 0 else {
            throw CommandLineError(
                .refused, code: "no_window", "\(program) is missing, which shows AppLocker's windows.")
        }
        let memory = try MemoryFile.make(content)
        defer { close(memory) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        let descriptors = [null, output ?? null, STDERR_FILENO, memory]
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
                    request.new_session = outlivesThis
                    request.error_descriptor = -1
                    return clinux_spawn(&request, &failure)
                }
            }
        }
        guard process > 0 else {
            throw CommandLineError(
                .refused, code: "no_window", "\(program) could not be started: \(String(cString: strerror(failure))).")
        }
        return process
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
