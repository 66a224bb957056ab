public import Foundation

/// The kernel's letter for the state of a process' first thread: "R", "S", "D", "T" or "Z" (proc_pid_status(5), State).
/// Nil if there is no such process.
public func processState(_ process: pid_t) -> Character? {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("State:\t") }
    return line?.dropFirst("State:\t".count).first
}

/// The children of all threads of a process, with the kernel's letter for the state of each; one that ended and was not
/// reaped is "Z".
///
/// - Throws: if there is no such process, or the state of another one can't be read.
public func childProcesses(of parent: pid_t) throws -> [pid_t: Character] {
    let files = FileManager.default
    var found: [pid_t: Character] = [:]
    for name in try files.contentsOfDirectory(atPath: "/proc") {
        guard let process = pid_t(name) else { continue }
        let text: String
        do {
            text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(name)/stat")), as: UTF8.self)
        } catch {
            // It has ended meanwhile.
            if files.fileExists(atPath: "/proc/\(name)") { throw error }
            continue
        }
        // Its program's name, which may contain anything, is in parentheses; then its state and its parent.
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 2, let state = fields[1].first else { throw POSIXError(.EBADMSG) }
        if pid_t(fields[2]) == parent { found[process] = state }
    }
    guard files.fileExists(atPath: "/proc/\(parent)") else { throw POSIXError(.ESRCH) }
    return found
}

extension ChildProcess {
    /// Whether the kernel holds its execve, as fanotify does: it waits uninterruptibly, and is still a copy of this
    /// process.
    public var isHeldInExecve: Bool {
        let files = FileManager.default
        guard isRunning, let program = try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe"),
            let own = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        else { return false }
        return processState(pid) == "D" && program == own
    }

    /// How it ended, or where in the kernel it and its children wait, with its standard error: for the message of a
    /// failed test. The kernel's stacks need root.
    public var stateDescription: String {
        if let exit { return "it ended: \(exit). \(errorOutput)" }
        let children = (try? childProcesses(of: pid)) ?? [:]
        return ([pid] + children.keys.sorted()).map { process in
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
            let stack = try? String(contentsOfFile: "/proc/\(process)/stack", encoding: .utf8)
            return "\(process) \(program ?? "?") \(processState(process) ?? "?")\n\(stack ?? "")"
        }.joined() + errorOutput
    }
}

/// Whether a process listens at this Unix socket (proc(5), /proc/net/unix): the file exists a moment earlier.
public func isListening(at path: String) -> Bool {
    // FileManager reads 4 KiB of a file whose length is 0.
    let table = try? FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/unix")).readToEnd()
    return String(decoding: table ?? Data(), as: UTF8.self).split(separator: "\n").contains { line in
        // Address, references, protocol, flags (__SO_ACCEPTCON where it listens), type, state, inode, path.
        let fields = line.split(separator: " ", maxSplits: 7)
        return fields.count == 8 && fields[3] == "00010000" && fields[7] == path
    }
}
