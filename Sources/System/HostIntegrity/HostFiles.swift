import Foundation

/// The host's files as the tests of the host read them: below `/`, or below a directory that stands for it.
struct HostFiles: Sendable {
    let root: String

    /// Why a file gave nothing.
    enum Absence: Error {
        case missing
        case unreadable
    }

    func path(_ path: String) -> String { root == "/" ? path : root + path }

    func bytes(_ path: String) -> Result<[UInt8], Absence> {
        guard let file = fopen(self.path(path), "re") else { return .failure(errno == ENOENT ? .missing : .unreadable) }
        defer { fclose(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            content += buffer[..<count]
            if content.count > 16 << 20 { return .failure(.unreadable) }  // no such file is that long
        }
        return ferror(file) == 0 ? .success(content) : .failure(.unreadable)
    }

    func text(_ path: String) -> Result<String, Absence> {
        bytes(path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The single number that a kernel setting holds; nil where the setting is missing or unreadable.
    func number(_ path: String) -> Int? {
        guard case .success(let text) = text(path) else { return nil }
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    func exists(_ path: String) -> Bool { access(self.path(path), F_OK) == 0 }

    /// The target of a symbolic link; nil if it is not a link or can't be read.
    func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: self.path(path))
    }

    /// The names in a directory, sorted.
    func names(in path: String) -> Result<[String], Absence> {
        guard let directory = opendir(self.path(path)) else {
            return .failure(errno == ENOENT ? .missing : .unreadable)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return .success(names.sorted())
    }
}
