import AsyncHTTPClient
import Foundation
import HubAPI
import NIOHTTP1
import SystemTestSupport
import TestSupport
import Testing

@testable import HubServer

/// The companion's files as browsers receive them.
struct WebFilesTests {
    private static let script = String(repeating: "export const answer = 42;\n", count: 100)

    private func hub(_ files: [String: Data] = [:]) -> HubUnderTest.Configured {
        HubUnderTest.configured(client: .init(decompression: .disabled)) { configuration, directory in
            let given = [
                "index.html": Data("<!doctype html><title>One</title>".utf8), "core/app.js": Data(Self.script.utf8),
            ].merging(files) { $1 }
            for (name, data) in given {
                let path = directory.path("web/" + name)
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try data.write(to: URL(fileURLWithPath: path))
            }
            configuration.webDirectory = directory.path("web")
        }
    }

    private func unzipped(_ data: Data, in directory: TemporaryDirectory) async throws -> Data {
        try data.write(to: URL(fileURLWithPath: directory.path("answer.gz")))
        let run = try await ChildProcess.run(
            "/usr/bin/gzip", ["-d", directory.path("answer.gz")], timeout: .seconds(60))
        #expect(run.exit == .code(0), "\(run.errorOutput)")
        return try Data(contentsOf: URL(fileURLWithPath: directory.path("answer")))
    }

    @Test func aFileIsCompressedIfTheClientAcceptsIt() async throws {
        try await hub().run { hub in
            let plain = try await hub.send("GET", "/core/app.js")
            #expect(plain.status == 200 && plain.body == Data(Self.script.utf8))
            #expect(plain.header("Content-Encoding") == nil && plain.header("Vary") == "Accept-Encoding")
            let zipped = try await hub.send("GET", "/core/app.js", headers: [("Accept-Encoding", "br, gzip;q=0.5")])
            #expect(zipped.header("Content-Encoding") == "gzip" && zipped.header("Vary") == "Accept-Encoding")
            #expect(zipped.header("Content-Type") == "text/javascript")
            #expect(zipped.body.count < plain.body.count / 10)
            #expect(zipped.header("Content-Length") == "\(zipped.body.count)")
            #expect(try await unzipped(zipped.body, in: hub.directory) == plain.body)
            for refusing in ["identity", "gzip;q=0", "br", "gzip; q=0.0, *"] {
                let answer = try await hub.send("GET", "/core/app.js", headers: [("Accept-Encoding", refusing)])
                #expect(answer.header("Content-Encoding") == nil && answer.body == plain.body, "\(refusing)")
            }
        }
    }

    /// The example of RFC 9110, section 5.6.7; and each response has it.
    @Test func everyResponseHasTheDate() async throws {
        #expect(HubServer.date(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        try await hub().run { hub in
            for path in ["/core/app.js", "/health", "/nothing"] {
                let before = time(nil)
                let date = try #require(try await hub.send("GET", path).header("Date"))
                #expect((before...time(nil)).map(HubServer.date).contains(date), "\(path)")
            }
        }
    }

    @Test func unchangedFilesAreNotSentAgain() async throws {
        try await hub().run { hub in
            let gzip = ("Accept-Encoding", "gzip")
            let plain = try #require(try await hub.send("GET", "/core/app.js").header("ETag"))
            let zipped = try #require(try await hub.send("GET", "/core/app.js", headers: [gzip]).header("ETag"))
            #expect(plain != zipped && plain.hasPrefix("\""))
            for (tag, headers) in [
                (plain, []), (zipped, [gzip]), ("W/\(zipped)", [gzip]), ("\"x\", \(plain)", []), ("*", []),
            ] {
                let answer = try await hub.send("GET", "/core/app.js", headers: headers + [("If-None-Match", tag)])
                #expect(answer.status == 304 && answer.body.isEmpty, "\(tag)")
                #expect(
                    answer.header("Vary") == "Accept-Encoding"
                        && answer.header("ETag") == (headers.isEmpty ? plain : zipped))
            }
            for (tag, headers) in [(zipped, []), (plain, [gzip]), ("\"x\"", [])] {
                let answer = try await hub.send("GET", "/core/app.js", headers: headers + [("If-None-Match", tag)])
                #expect(answer.status == 200, "\(tag)")
            }
        }
    }

    @Test func smallFilesAndPicturesAreNotCompressed() async throws {
        try await hub(["icon.png": Data(count: 4_096)]).run { hub in
            for (path, type) in [("/icon.png", "image/png"), ("/", "text/html; charset=utf-8")] {
                let answer = try await hub.send("GET", path, headers: [("Accept-Encoding", "gzip")])
                #expect(answer.status == 200 && answer.header("Content-Type") == type)
                #expect(answer.header("Content-Encoding") == nil && answer.header("Vary") == nil)
            }
        }
    }

    @Test func theListContainsTheHashOfEveryFileAndOfAll() async throws {
        struct List: Decodable {
            let release: String
            let version: String
            let files: [String: String]
        }
        let beside = ["README.md": Data("words".utf8), "tsconfig.json": Data("{}".utf8), "types/browser.d.ts": Data()]
        try await hub(beside).run { hub in
            let list: List = try await hub.send("GET", "/assets.json").decoded()
            #expect(list.release == Release.version && list.files.keys.sorted() == ["core/app.js", "index.html"])
            // With the command of docs/operations.md.
            let run = try await ChildProcess.run(
                "/bin/sh",
                ["-c", "cd \"$0\" && sha256sum core/app.js index.html | sha256sum", hub.directory.path("web")],
                timeout: .seconds(60))
            #expect(run.output.hasPrefix(list.version + " "), "\(run.output)")
            for name in beside.keys {
                #expect(try await hub.send("GET", "/" + name).status == 404, "\(name)")
            }

            // Changed files on disk are another version once they are read again, together with the list.
            try hub.directory.write("<!doctype html><title>Two</title>", to: "web/index.html")
            let before: List = try await hub.send("GET", "/assets.json").decoded()
            #expect(before.version == list.version)
            hub.server.reload()
            let after: List = try await hub.send("GET", "/assets.json").decoded()
            #expect(after.version != list.version && after.files["core/app.js"] == list.files["core/app.js"])
            #expect(String(decoding: try await hub.send("GET", "/").body, as: UTF8.self).contains("Two"))
        }
    }

    @Test func scriptsAreLoadedOnlyFromTheHubUnderOnePolicy() async throws {
        let files = [
            "icon.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "service-worker.js": "//", "workers/a.js": "//",
        ]
        try await hub(files.mapValues { Data($0.utf8) }).run { hub in
            let policy = try #require(try await hub.send("GET", "/").header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
            #expect(policy.hasSuffix("require-trusted-types-for 'script'; trusted-types applocker"))
            // A worker has the policy of its own script, and a script of a page the page's.
            for path in ["/service-worker.js", "/workers/a.js"] {
                #expect(
                    try await hub.send("GET", path).header("Content-Security-Policy")
                        == "default-src 'none'; script-src 'self'; connect-src 'self'")
            }
            let script = try await hub.send("GET", "/core/app.js")
            #expect(script.header("Content-Security-Policy") == nil)
            #expect(script.header("X-Content-Type-Options") == "nosniff")
            // An SVG image that is opened directly is a page of its own.
            let drawing = try await hub.send("GET", "/icon.svg")
            #expect(drawing.header("Content-Security-Policy") == policy && drawing.header("X-Frame-Options") == "DENY")
        }
    }

    @Test func anInstalledCompanionIsFoundNextToTheProgram() throws {
        let directory = try TemporaryDirectory()
        func found(_ program: String, web: String, package: Bool = false) throws -> String? {
            let root = directory.path(UUID().uuidString)
            for name in [program, web + "/index.html"] + (package ? ["Package.swift"] : []) {
                let path = root + "/" + name
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data().write(to: URL(fileURLWithPath: path))
            }
            let resolved = URL(fileURLWithPath: root).resolvingSymlinksInPath().path
            return InstalledCompanion.directory(beside: root + "/" + program)
                .map { $0.replacingOccurrences(of: resolved + "/", with: "") }
        }
        #expect(try found("usr/bin/hub", web: "usr/share/applocker/web") == "usr/share/applocker/web")
        #expect(try found("usr/lib/applocker/hub", web: "usr/share/applocker/web") == "usr/share/applocker/web")
        #expect(try found(".build/x86_64/debug/hub", web: "Web", package: true) == "Web")
        #expect(try found(".build/x86_64/debug/hub", web: "Web") == nil)
        #expect(try found("a/b/debug/hub", web: "Web", package: true) == nil)
        #expect(try found("usr/bin/hub", web: "usr/share/other") == nil)
    }
}
