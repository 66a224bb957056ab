import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The companion's files, all in memory: nothing outside their directory can be asked for.
final class WebFiles: Sendable {
    private struct File: Sendable {
        let bytes: ByteBuffer
        let type: String
        let tag: String
    }

    /// Of all files together.
    private static let maximumBytes = 64 << 20

    private let directory: String?
    private let files: Mutex<[String: File]>

    /// - Throws: `HubStartError.badWebDirectory`.
    init(directory: String?) throws {
        self.directory = directory
        files = Mutex(try directory.map(Self.read) ?? [:])
    }

    func reload(logger: Logger) {
        guard let directory else { return }
        do {
            let new = try Self.read(directory)
            files.withLock { $0 = new }
        } catch {
            logger.error("The companion's files could not be read again; those from before stay.")
        }
    }

    func response(to path: String, _ headers: HTTPFields) -> Response? {
        guard directory != nil else { return path == "/" ? Self.plainPage : nil }
        let name = path.hasSuffix("/") ? path + "index.html" : path
        guard let file = files.withLock({ $0[name] }) else { return nil }
        var fields = Self.safety
        fields[.contentType] = file.type
        fields[.eTag] = file.tag
        // Looked at each time: a phone must never run an old companion because a cache says so.
        fields[.cacheControl] = "no-cache"
        if headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: fields) }
        return Response(status: .ok, headers: fields, body: .init(byteBuffer: file.bytes))
    }

    /// Nothing from elsewhere, nothing inline, in nobody's frame.
    private static let safety: HTTPFields = {
        var fields = HTTPFields()
        fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; "
            + "img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
        fields[HTTPField.Name("Referrer-Policy")!] = "no-referrer"
        fields[HTTPField.Name("X-Frame-Options")!] = "DENY"
        fields[HTTPField.Name("Cross-Origin-Opener-Policy")!] = "same-origin"
        fields[HTTPField.Name("Cross-Origin-Resource-Policy")!] = "same-origin"
        fields[HTTPField.Name("Permissions-Policy")!] =
            "camera=(self), microphone=(), geolocation=(self), payment=(), usb=()"
        return fields
    }()

    private static let plainPage: Response = {
        var fields = safety
        fields[.contentType] = "text/html; charset=utf-8"
        return Response(
            status: .ok, headers: fields,
            body: .init(
                byteBuffer: ByteBuffer(
                    string: """
                        <!doctype html><html lang="en"><title>AppLocker hub</title><h1>AppLocker hub</h1>
                        <p>This server keeps and forwards what AppLocker's devices seal. It can read none of it, and it has
                        no companion app to show: it was started without --web.</p></html>

                        """)))
    }()

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "json": "application/json", "webmanifest": "application/manifest+json", "svg": "image/svg+xml",
        "png": "image/png", "ico": "image/x-icon", "webp": "image/webp", "woff2": "font/woff2",
        "txt": "text/plain; charset=utf-8",
    ]

    private static func read(_ directory: String) throws -> [String: File] {
        let root = URL(fileURLWithPath: directory, isDirectory: true).resolvingSymlinksInPath()
        let keys: [URLResourceKey] = [.isRegularFileKey]
        guard
            let entries = FileManager.default.enumerator(
                at: root, includingPropertiesForKeys: keys, options: [.skipsHiddenFiles])
        else { throw HubStartError.badWebDirectory(path: directory, cause: "it is not there") }
        var files: [String: File] = [:]
        var total = 0
        for case let url as URL in entries where try url.resourceValues(forKeys: Set(keys)).isRegularFile == true {
            let data: Data
            do {
                data = try Data(contentsOf: url)
            } catch {
                throw HubStartError.badWebDirectory(path: directory, cause: "\(url.lastPathComponent): \(error)")
            }
            total += data.count
            guard total <= maximumBytes else {
                throw HubStartError.badWebDirectory(path: directory, cause: "there are more than 64 MiB")
            }
            let name = String(url.resolvingSymlinksInPath().path.dropFirst(root.path.count))
            let hash = SHA256.hash(data: data).prefix(16).map { String(format: "%02x", $0) }.joined()
            files[name] = File(
                bytes: ByteBuffer(bytes: data), type: types[url.pathExtension] ?? "application/octet-stream",
                tag: "\"\(hash)\"")
        }
        guard files["/index.html"] != nil else {
            throw HubStartError.badWebDirectory(path: directory, cause: "there is no index.html")
        }
        return files
    }
}
