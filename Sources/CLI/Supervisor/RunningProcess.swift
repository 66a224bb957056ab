import CLinux
import Foundation

/// A process that an earlier run left, found by its program and arguments.
struct RunningProcess: Sendable {
    let pid: pid_t

    /// Root's processes whose program has this name and whose arguments contain `arguments` in a row. Only root's,
    /// because any user can start a program with that name.
    static func ofRoot(program: String, arguments: [String]) -> [RunningProcess] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { pid_t($0) }.filter { pid in
            pid != getpid() && belongsToRoot(pid) && programName(of: pid) == program
                && contains(commandLine(of: pid), arguments)
        }.map(RunningProcess.init)
    }

    private static func contains(_ list: [String], _ part: [String]) -> Bool {
        guard list.count >= part.count else { return false }
        return (0...(list.count - part.count)).contains { Array(list[$0..<($0 + part.count)]) == part }
    }

    private static func belongsToRoot(_ pid: pid_t) -> Bool {
        let status = String(decoding: contents("/proc/\(pid)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Uid:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst() == ["0", "0", "0", "0"]
    }

    private static func programName(of pid: pid_t) -> String? {
        guard var path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe") else {
            return nil
        }
        if path.hasSuffix(" (deleted)") { path.removeLast(10) }  // replaced by a newer build
        return path.split(separator: "/").last.map(String.init)
    }

    private static func commandLine(of pid: pid_t) -> [String] {
        contents("/proc/\(pid)/cmdline").split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func contents(_ path: String) -> Data {
        (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
    }

    /// Duplicates the process' fanotify groups into this process. Throws `SupervisorError.Code.notPermitted`.
    func takeFanotifyGroups(through handle: Int32) throws(SupervisorError) -> [Int32] {
        let directory = "/proc/\(pid)/fd"
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).compactMap { Int32($0) }
        var taken: [Int32] = []
        for number in numbers {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(number)")
            guard target == "anon_inode:[fanotify]" else { continue }
            var failure: Int32 = 0
            let copy = clinux_take_descriptor(handle, number, &failure)
            guard copy >= 0 else {
                for descriptor in taken { close(descriptor) }
                throw SupervisorError(
                    .notPermitted,
                    "An earlier gate (process \(pid)) still denies launches, and its descriptor can't be taken over; "
                        + "stop it with `kill \(pid)`, which unlocks the apps, and start again.", cause: failure)
            }
            taken.append(copy)
        }
        return taken
    }

    /// Kills the process and returns when it has ended. Blocks, for two seconds at most.
    func kill(through handle: Int32) {
        _ = clinux_pidfd_signal(handle, SIGKILL)
        _ = clinux_wait_for_pidfd(handle, 2000)
    }

    /// Runs `body` with a handle (pidfd) of this very process, unless it has ended.
    func withHandle<Result>(
        _ body: (Int32) throws(SupervisorError) -> Result
    ) throws(SupervisorError) -> Result? {
        let handle = clinux_pidfd_open(pid)
        guard handle >= 0 else { return nil }
        defer { close(handle) }
        return try body(handle)
    }
}
