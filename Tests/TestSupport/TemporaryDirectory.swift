public import Foundation

/// A new directory under /tmp or another directory, removed with everything in it when the value is released.
public final class TemporaryDirectory: Sendable {
    public let url: URL

    /// The absolute path, without a slash at the end.
    public var path: String { url.path }

    /// Short on purpose: a Unix socket's path may have at most 107 bytes.
    public init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/applocker-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: String(cString: strerror(errno))])
        }
        url = URL(fileURLWithPath: template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }

    /// The absolute path of a name inside.
    public func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file inside, creates missing directories above it, and returns its absolute path.
    @discardableResult
    public func write(_ text: String, to name: String, permissions: Int = 0o644) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
        return file.path
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
