import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The companion's files, all in memory: no request can reach a file outside their directory.
final class WebFiles: Sendable {
    struct File: Sendable {
        let bytes: ByteBuffer
        /// Nil if compression saves nothing.
        let gzip: ByteBuffer?
        let type: String
        /// The entity tag without quotes.
        let tag: String
    }

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
            logger.error("The companion's files could not be read again; the hub keeps the old ones.")
        }
    }

    func response(to path: String, _ headers: HTTPFields) -> Response? {
        guard directory != nil else { return path == "/" ? Self.plainPage : nil }
        let name = path.hasSuffix("/") ? path + "index.html" : path
        guard let file = files.withLock({ $0[name] }) else { return nil }
        var fields = Self.safety(of: file.type, at: name)
        fields[.contentType] = file.type
        // Revalidated each time: a phone must never run an old companion from a cache.
        fields[.cacheControl] = "no-cache"
        var (bytes, tag) = (file.bytes, "\"\(file.tag)\"")
        if let gzip = file.gzip {
            fields[.vary] = "Accept-Encoding"
            if Gzip.isAccepted(headers[.acceptEncoding]) {
                // Other bytes need another tag: RFC 9110 section 8.8.3.3.
                (bytes, tag) = (gzip, "\"\(file.tag)-gzip\"")
                fields[.contentEncoding] = "gzip"
            }
        }
        fields[.eTag] = tag
        if Self.names(headers[.ifNoneMatch], tag) {
            fields[.contentEncoding] = nil
            return Response(status: .notModified, headers: fields)
        }
        return Response(status: .ok, headers: fields, body: .init(byteBuffer: bytes))
    }

    /// Weak comparison: RFC 9110 section 13.1.2.
    private static func names(_ ifNoneMatch: String?, _ tag: String) -> Bool {
        guard let ifNoneMatch else { return false }
        return ifNoneMatch.split(separator: ",").contains { part in
            let word = part.trimmingCharacters(in: .whitespaces)
            return word == "*" || (word.hasPrefix("W/") ? String(word.dropFirst(2)) : word) == tag
        }
    }

    /// The security headers that a file needs. Not all for every file: a page loads a hundred files.
    private static func safety(of type: String, at path: String) -> HTTPFields {
        // Browsers display these types as pages.
        if type.hasPrefix("text/html") || type == "image/svg+xml" { return safety }
        // Pages start only workers of these paths (Web/workers/script-url.js).
        let isWorker = path == "/service-worker.js" || path.hasPrefix("/workers/")
        return isWorker && type.hasPrefix("text/javascript") ? safetyOfWorkers : safetyOfParts
    }

    private static let safetyOfParts: HTTPFields = [HTTPField.Name("Cross-Origin-Resource-Policy")!: "same-origin"]

    /// A worker has its script's policy; a script of a page has the page's.
    private static let safetyOfWorkers: HTTPFields = {
        var fields = safetyOfParts
        fields[.contentSecurityPolicy] = "default-src 'none'; script-src 'self'; connect-src 'self'"
        fields[HTTPField.Name("Referrer-Policy")!] = "no-referrer"
        return fields
    }()

    /// No external resources, no inline code, and no framing.
    private static let safety: HTTPFields = {
        var fields = HTTPFields()
        fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; "
            + "img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            + "trusted-types applocker"
        fields[HTTPField.Name("Referrer-Policy")!] = "no-referrer"
        fields[HTTPField.Name("X-Frame-Options")!] = "DENY"
        fields[HTTPField.Name("Cross-Origin-Opener-Policy")!] = "same-origin"
        fields[HTTPField.Name("Cross-Origin-Resource-Policy")!] = "same-origin"
        fields[HTTPField.Name("Permissions-Policy")!] =
            "camera=(self), microphone=(self), geolocation=(self), payment=(), usb=()"
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
                        <p>This server stores and forwards sealed data of AppLocker's devices and can read none of it. No companion app is installed, or it was started with --web none.</p></html>

                        """)))
    }()
}
