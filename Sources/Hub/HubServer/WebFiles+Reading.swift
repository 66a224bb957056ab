import Crypto
import Foundation
import HubAPI
import NIOCore

extension WebFiles {
    /// The limit of all files together.
    private static let maximumBytes = 64 << 20
    /// Smaller files aren't compressed: the header would cost more than it saves.
    private static let leastCompressed = 256

    /// Content types by extension, and whether gzip makes such files smaller. Scripts and style sheets are read as UTF-8
    /// without a charset, because their page is (HTML section 8.1.4.2; CSS Syntax Level 3 section 3.2).
    private static let types: [String: (type: String, isText: Bool)] = [
        "html": ("text/html; charset=utf-8", true), "js": ("text/javascript", true),
        "mjs": ("text/javascript", true), "css": ("text/css", true),
        "json": ("application/json", true), "webmanifest": ("application/manifest+json", true),
        "svg": ("image/svg+xml", true), "txt": ("text/plain; charset=utf-8", true), "png": ("image/png", false),
        "ico": ("image/x-icon", false), "webp": ("image/webp", false), "woff2": ("font/woff2", false),
    ]

    /// Excludes documents and types for developers, which are in the same directory.
    private static func isServed(_ name: String) -> Bool {
        !name.hasSuffix(".md") && !name.hasSuffix(".d.ts") && name != "tsconfig.json"
    }

    /// The files by path, and `/assets.json` with the hash of each.
    ///
    /// - Throws: `HubStartError.badWebDirectory`.
    static func read(_ directory: String) throws -> [String: File] {
        let root = URL(fileURLWithPath: directory, isDirectory: true).resolvingSymlinksInPath()
        let keys: [URLResourceKey] = [.isRegularFileKey]
        guard
            let entries = FileManager.default.enumerator(
                at: root, includingPropertiesForKeys: keys, options: [.skipsHiddenFiles])
        else { throw HubStartError.badWebDirectory(path: directory, cause: "it does not exist") }
        var files: [String: File] = [:]
        var hashes: [String: String] = [:]
        var total = 0
        // Compiled once.
        let plainName = Self.plainName
        for case let url as URL in entries where try url.resourceValues(forKeys: Set(keys)).isRegularFile == true {
            guard isServed(url.lastPathComponent) else { continue }
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
            let path = String(url.resolvingSymlinksInPath().path.dropFirst(root.path.count))
            let hash = hex(data)
            files[path] = file(data, hash: hash, extension: url.pathExtension)
            let name = String(path.dropFirst())
            if name.wholeMatch(of: plainName) != nil { hashes[name] = hash }
        }
        guard files["/index.html"] != nil else {
            throw HubStartError.badWebDirectory(path: directory, cause: "there is no index.html")
        }
        let list = try assetList(hashes)
        files["/assets.json"] = file(list, hash: hex(list), extension: "json")
        return files
    }

    private static func file(_ data: Data, hash: String, extension kind: String) -> File {
        let (type, isText) = types[kind] ?? ("application/octet-stream", false)
        let gzip = isText && data.count >= leastCompressed ? Gzip.compressed(data) : nil
        return File(
            bytes: ByteBuffer(bytes: data),
            gzip: gzip.flatMap { $0.count < data.count ? ByteBuffer(bytes: $0) : nil }, type: type,
            tag: String(hash.prefix(32)))
    }

    // MARK: The list by which companions check their copy

    /// The format is read by Web/hub/asset-list.js.
    private struct AssetList: Encodable {
        let release: String
        let version: String
        let files: [String: String]
    }

    /// The names that a companion stores; other files are served too.
    private static var plainName: Regex<Substring> { /(?:[A-Za-z0-9_.\-]+\/)*[A-Za-z0-9_.\-]+/ }

    /// The version is the hash of the output of `sha256sum` for the files in the order of their names, so that anybody
    /// can reproduce it.
    private static func assetList(_ hashes: [String: String]) throws -> Data {
        let names = hashes.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let lines = names.map { "\(hashes[$0] ?? "")  \($0)\n" }.joined()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(
            AssetList(release: Release.version, version: hex(Data(lines.utf8)), files: hashes))
    }

    private static func hex(_ data: Data) -> String {
        SHA256.hash(data: data).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
