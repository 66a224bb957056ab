import Foundation

/// Makes settings of the kernel safe: at once, and at each start by a file of sysctl.d(5). Needs root.
public struct KernelSettings: Sendable {
    public enum Outcome: Sendable, Equatable {
        case changed
        /// Nothing was written.
        case wasSafe(Int)
    }

    public static let file = "/etc/sysctl.d/60-applocker.conf"
    private static let name = "60-applocker.conf"
    private static let header = "# Written by `applocker doctor --fix`. `apt purge applocker` removes it.\n"

    private let files: HostFiles

    /// Of this machine.
    public init() { self.init(root: "/") }

    /// - Parameter root: an absolute directory that stands for `/`.
    init(root: String) { files = HostFiles(root: root) }

    /// Does nothing where the setting is safe: a stricter value stays.
    /// - Throws: `KernelSettingError`. The file may have been written before.
    public func makeSafe(_ setting: KernelSetting) throws -> Outcome {
        guard files.exists(setting.path) else {
            throw KernelSettingError("This kernel has no \(setting.key).")
        }
        guard let value = files.number(setting.path) else {
            throw KernelSettingError("\(setting.key) could not be read.")
        }
        let wasSafe = setting.isSafe(value)
        if !wasSafe {
            try write(setting)
            try apply(setting)
        }
        if let (file, line) = laterFile(setting) {
            throw KernelSettingError(
                "\(setting.key) is \(wasSafe ? value : setting.safeValue) now, but \(file) has \"\(line)\" and is read later "
                    + "at each start. Remove that line.")
        }
        return wasSafe ? .wasSafe(value) : .changed
    }

    private func apply(_ setting: KernelSetting) throws {
        // Never created: the kernel has it, or it does not exist.
        let file = open(files.path(setting.path), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        let bytes = Array("\(setting.safeValue)\n".utf8)
        let isWritten = file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count
        let reason = String(cString: strerror(errno))
        if file >= 0 { close(file) }
        guard isWritten else {
            throw KernelSettingError(
                "\(setting.key) could not be set (\(reason)); \(Self.file) sets it at the next start.")
        }
        guard files.number(setting.path).map(setting.isSafe) == true else {
            throw KernelSettingError(
                "The kernel did not change \(setting.key); \(Self.file) sets it at the next start.")
        }
    }

    /// Writes the file with this setting and with all other lines that it has.
    private func write(_ setting: KernelSetting) throws {
        let directory = try SettingsDirectory(root: files.root)
        let before = try directory.content(Self.name) ?? Array(Self.header.utf8)
        // Bytes: what others wrote need not be UTF-8.
        var lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        lines.removeAll { setting.value(inLine: String(decoding: $0, as: UTF8.self)) != nil }
        lines.append(ArraySlice("\(setting.key) = \(setting.safeValue)".utf8))
        try directory.replace(Self.name, with: lines.flatMap { $0 + [UInt8(ascii: "\n")] })
    }

    /// The last file behind AppLocker's that sets it, if to a value that is not safe, with that line.
    private func laterFile(_ setting: KernelSetting) -> (file: String, line: String)? {
        // A name in an earlier directory replaces the same one in a later directory.
        let directories = [
            "/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d",
        ]
        var paths: [String: String] = [:]
        for directory in directories {
            for name in (try? files.names(in: directory).get()) ?? [] where name.hasSuffix(".conf") && name > Self.name
            {
                paths[name] = paths[name] ?? "\(directory)/\(name)"
            }
        }
        var last: (file: String, line: String)?
        for (_, path) in paths.sorted(by: { $0.key < $1.key }) {
            guard case .success(let text) = files.text(path) else { continue }
            for line in text.split(separator: "\n") {
                guard let value = setting.value(inLine: line) else { continue }
                let isSafe = Int(value).map(setting.isSafe) == true
                last = isSafe ? nil : (path, "\(setting.key) = \(value)")
            }
        }
        return last
    }
}

/// `/etc/sysctl.d`, opened without following a link and only if no other user can change it.
private final class SettingsDirectory {
    private static let path = "/etc/sysctl.d"
    private static let longestFile = 1 << 20

    private let descriptor: Int32

    init(root: String) throws {
        var parent = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for (name, shown) in [("etc", "/etc"), ("sysctl.d", Self.path)] {
            if parent >= 0, name == "sysctl.d" { mkdirat(parent, name, 0o755) }
            let next = parent < 0 ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let reason = String(cString: strerror(errno))
            if parent >= 0 { close(parent) }
            parent = next
            var status = stat()
            guard next >= 0, fstat(next, &status) == 0 else {
                throw KernelSettingError("\(shown) can't be opened as a directory (\(reason)). Nothing was changed.")
            }
            guard Self.isOwn(status) else {
                close(next)
                throw KernelSettingError(
                    "Other users can change \(shown), so nothing was written. Make root its only writer.")
            }
        }
        descriptor = parent
    }

    deinit { close(descriptor) }

    /// Nobody but this user, which is root, can change it.
    private static func isOwn(_ status: stat) -> Bool {
        status.st_uid == geteuid() && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// - Returns: nil if there is no such file.
    func content(_ name: String) throws -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0, errno == ENOENT { return nil }
        let path = "\(Self.path)/\(name)"
        defer { if file >= 0 { close(file) } }
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Self.isOwn(status),
            status.st_size <= Self.longestFile
        else {
            throw KernelSettingError(
                "\(path) is a link, too long, or no file of root's alone. Remove it. Nothing was changed.")
        }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count >= 0, content.count <= Self.longestFile else {
                throw KernelSettingError("\(path) could not be read. Nothing was changed.")
            }
            guard count > 0 else { return content }
            content += buffer[..<count]
        }
    }

    /// Replaces the file in one step: a power cut leaves the old one or the new one.
    func replace(_ name: String, with content: [UInt8]) throws {
        // Not read by sysctl: it does not end in ".conf".
        let draft = ".\(name).new"
        unlinkat(descriptor, draft, 0)
        let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        var isWritten = file >= 0
        var rest = content[...]
        while isWritten, !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            isWritten = count > 0
            if isWritten { rest = rest.dropFirst(count) }
        }
        isWritten =
            isWritten && fchmod(file, 0o644) == 0 && fsync(file) == 0
            && renameat(descriptor, draft, descriptor, name) == 0 && fsync(descriptor) == 0
        let reason = String(cString: strerror(errno))
        if file >= 0 { close(file) }
        guard isWritten else {
            unlinkat(descriptor, draft, 0)
            throw KernelSettingError("\(Self.path)/\(name) could not be written (\(reason)). Nothing was changed.")
        }
    }
}
