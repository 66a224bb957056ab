import Foundation
import Glibc

/// A process in /proc.
struct ProcessRecord {
    var pid: pid_t
    /// The state's letter, see proc(5).
    var state: Character
    /// Clock ticks after boot.
    var start: UInt64
    var arguments: [String]

    static var numbers: [pid_t] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
    }

    /// The session user's processes that run a program of this path, or below it.
    static func running(_ program: String) -> [ProcessRecord] {
        numbers.compactMap { process in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "/proc/\(process)")
            guard (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value == DesktopSession.user,
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe"),
                path == program || path.hasPrefix(program + "/")
            else { return nil }
            return ProcessRecord(process)
        }
    }

    /// Kills every process with this path in its arguments or environment.
    static func killAll(mentioning path: String) {
        let mark = Data(path.utf8)
        for process in numbers where process != getpid() {
            let isMarked = ["environ", "cmdline"].contains { file in
                FileManager.default.contents(atPath: "/proc/\(process)/\(file)")?.range(of: mark) != nil
            }
            if isMarked { kill(process, SIGKILL) }
        }
    }

    init?(_ process: pid_t) {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let state = fields[0].first, let start = UInt64(fields[19]) else { return nil }
        pid = process
        self.state = state
        self.start = start
        arguments = (FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data())
            .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
}
