import DaemonCore
import Foundation
import Glibc

/// Users from the account database, processes from /proc.
struct SystemProcesses: ProcessDirectory {
    func userName(_ user: UInt32) -> String? {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
        return String(cString: entry.pw_name)
    }

    func home(_ user: UInt32) -> String? {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
        return String(cString: entry.pw_dir)
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
