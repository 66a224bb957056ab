import BlockingThread
import CLinux
import Dispatch
import Foundation
import Glibc
import Synchronization

/// Runs the owner's editor on a note. The text is in a file of a memory file system, in a folder for this user alone,
/// and removed afterwards; it could reach a disk only by swap.
enum NoteEditor {
    /// The first line is the title; the text begins after an empty line. If `save` fails, the text is written to such a
    /// file again, whose name is printed.
    static func edit<Saved>(
        title: String, body: String, save: (_ title: String, _ body: String) async throws -> Saved
    ) async throws -> Saved {
        let command = editor(ProcessInfo.processInfo.environment)
        let bytes = try await runBlocking {
            let folder = try folder()
            defer { remove(folder) }
            let path = folder + "/note.txt"
            try write(Data("\(title)\n\n\(body)\n".utf8), to: path)
            try run(command, on: path, folder: folder)
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
        do {
            let (title, body) = try parsed(bytes)
            return try await save(title, body)
        } catch let error as CommandLineError where error.code == PasscodeSource.noPasscode {
            // Pressing Enter alone discards the text.
            throw error
        } catch {
            if !bytes.isEmpty { try await runBlocking { try keep(bytes) } }
            throw error
        }
    }

    private static func keep(_ bytes: Data) throws {
        let folder = try folder()
        do {
            try write(bytes, to: folder + "/note.txt")
        } catch {
            remove(folder)
            throw error
        }
        Output.errors.line(
            "Your text is in \(folder)/note.txt, in memory, until you remove it or this computer restarts.")
    }

    private static func parsed(_ bytes: Data) throws -> (title: String, body: String) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandLineError(
                .refused, code: "not_text", "The editor did not write UTF-8 text; nothing was saved.")
        }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let newTitle = lines.first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        guard !newTitle.isEmpty else {
            throw CommandLineError(
                .refused, code: "no_title", "The first line, the title, is empty; nothing was saved.")
        }
        var rest = lines.count > 1 ? String(lines[1]) : ""
        if rest.hasPrefix("\n") { rest.removeFirst() }
        // The line end that editors add at the end of a file is not part of the text.
        if rest.hasSuffix("\n") { rest.removeLast() }
        return (newTitle, rest)
    }

    /// Adds options to editors that are known to keep copies of what they edit.
    static func editor(_ environment: [String: String]) -> String {
        let command =
            [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty } ?? "vi"
        let name =
            command.split(separator: " ").first.map { $0.split(separator: "/").last.map(String.init) ?? "" } ?? ""
        return switch name {
        // No swap file, and no history of yanked text.
        case "vi", "vim", "nvim", "vim.basic", "vim.tiny", "gvim": command + " -n -i NONE"
        case "nano": command + " --ignorercfiles"
        default: command
        }
    }

    /// - Throws: `CommandLineError` if there is no memory file system.
    private static func folder() throws -> String {
        let places = [ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], "/dev/shm", "/run/user/\(getuid())"]
        for place in places.compactMap({ $0 }) {
            guard clinux_is_in_memory(place) else { continue }
            var template = Array("\(place)/applocker-XXXXXX".utf8CString)
            if let made = mkdtemp(&template) { return String(cString: made) }
        }
        throw CommandLineError(
            .refused, code: "no_memory_file",
            "There is no memory file system to edit in (XDG_RUNTIME_DIR, /dev/shm); pipe the text in with \"-\" instead."
        )
    }

    private static func write(_ bytes: Data, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        defer { if file >= 0 { close(file) } }
        guard file >= 0, Output.writeAll(bytes, to: file) else {
            throw CommandLineError(
                .refused, code: "failed", "\(path) can't be written (\(String(cString: strerror(errno)))).")
        }
    }

    private static func run(_ command: String, on path: String, folder: String) throws {
        // The shell splits the editor's arguments, as for every program that starts $EDITOR.
        let words = ["sh", "-c", "exec \(command) \"$1\"", "sh", path]
        let arguments = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that are ignored or watched here have their default effect on the editor.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in watched + [SIGINT, SIGQUIT] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        // The editor handles Ctrl-C.
        for number in watched + [SIGINT, SIGQUIT] { signal(number, SIG_IGN) }
        defer { for number in watched + [SIGINT, SIGQUIT] { signal(number, SIG_DFL) } }

        // Registered before the editor starts: a signal that arrives before its source is registered is lost.
        let child = Mutex<Child>(.notStarted)
        let sources = watched.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isRegistered.signal() }
            // The text is removed at once, whether or not the editor ends.
            source.setEventHandler {
                remove(folder)
                child.withLock { child in
                    if case .running(let process) = child { kill(process, number) } else { child = .unwanted }
                }
            }
            source.resume()
            isRegistered.wait()
            return source
        }
        defer { for source in sources { source.cancel() } }
        var process: pid_t = 0
        let outcome = child.withLock { child -> Int32 in
            if case .unwanted = child { return ECANCELED }
            let outcome = posix_spawn(&process, "/bin/sh", nil, &attributes, arguments + [nil], environ)
            if outcome == 0 { child = .running(process) }
            return outcome
        }
        guard outcome == 0 else {
            throw CommandLineError(
                .refused, code: "no_editor", "The editor could not be started (\(String(cString: strerror(outcome)))).")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0, access(path, F_OK) == 0 else {
            throw CommandLineError(
                .refused, code: "editor_failed",
                "The editor ended with an error; nothing was saved. Set EDITOR to another editor.")
        }
    }

    private enum Child {
        case notStarted, unwanted
        case running(pid_t)
    }

    /// Signals that end this program from outside: a closed terminal, the end of the session.
    private static let watched = [SIGTERM, SIGHUP]

    /// Removes the folder, also copies that the editor left.
    private static func remove(_ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }
}
