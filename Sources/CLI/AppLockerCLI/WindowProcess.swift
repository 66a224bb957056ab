import CLinux
import Foundation
import ProcessSpawning

/// `applocker-prompt` as a child process. It gets its content in a memory file, so that it is on no disk, in no
/// argument and not in the environment.
enum WindowProcess {
    /// - Parameter content: readable on its descriptor 3.
    /// - Parameter output: becomes its standard output; nil: none.
    /// - Parameter outlivesThis: start it in a session of its own; otherwise Ctrl-C ends it together with this process.
    /// - Returns: its process id, for waitpid(2).
    /// - Throws: `CommandLineError` if it is missing or can't be started.
    static func start(
        _ arguments: [String], content: Data, output: Int32? = nil, outlivesThis: Bool = false
    ) throws(CommandLineError) -> pid_t {
        let program = OwnExecutable.sibling("applocker-prompt")
        guard access(program, X_OK) == 0 else {
            throw CommandLineError(
                .refused, code: "no_window", "\(program), which shows AppLocker's windows, is missing.")
        }
        let memory = try MemoryFile.make(content)
        defer { close(memory) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var request = SpawnRequest(
            executable: program, arguments: [program] + arguments,
            descriptors: [null, output ?? null, STDERR_FILENO, memory])
        if outlivesThis { request.group = .session }
        do throws(SpawnError) {
            return try request.start()
        } catch {
            throw CommandLineError(
                .refused, code: "no_window",
                "\(program) could not be started: \(String(cString: strerror(error.code))).")
        }
    }
}

/// A file that exists only in memory.
enum MemoryFile {
    /// - Returns: a descriptor at the beginning of the content, closed on exec.
    static func make(_ content: Data) throws(CommandLineError) -> Int32 {
        let file = clinux_memory_file("applocker")
        guard file >= 0, Output.writeAll(content, to: file), lseek(file, 0, SEEK_SET) == 0 else {
            throw CommandLineError(
                .refused, code: "failed",
                "No data can be passed to AppLocker's window (\(String(cString: strerror(file < 0 ? -file : errno)))).")
        }
        return file
    }
}
