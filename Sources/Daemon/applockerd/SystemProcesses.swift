import DaemonCore
import Foundation
import Glibc

/// Users from the account database, processes from /proc.
struct SystemProcesses: ProcessDirectory {
    func userName(_ user: UInt32) -> String? { account(user) { String(cString: $0.pw_name) } }

    func home(_ user: UInt32) -> String? { account(user) { String(cString: $0.pw_dir) } }

    private func account(_ user: UInt32, _ field: (passwd) -> String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let result = getpwuid_r(user, &entry, buffer.baseAddress!, buffer.count, &found)
            return result == 0 && found != nil ? field(entry) : nil
        }
    }

    func processName(_ process: Int32) -> String? { try? String(contentsOfSmallFile: "/proc/\(process)/comm") }

    func owner(of process: Int32) -> UInt32? {
        guard let status = try? String(contentsOfSmallFile: "/proc/\(process)/status") else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("Uid:") {
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt32($0) }
        }
        return nil
    }

    func loginUser(of process: Int32) -> UInt32? {
        let text = try? String(contentsOfSmallFile: "/proc/\(process)/loginuid")
        return text.flatMap { UInt32($0) }.flatMap { $0 == .max ? nil : $0 }
    }
}

extension String {
    /// A file of /proc, without its last line break.
    init(contentsOfSmallFile path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        self = text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
