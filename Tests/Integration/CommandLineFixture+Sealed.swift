import Foundation
import SystemTestSupport
import TestSupport
import Testing

// Additions for the commands on the vault.
extension CommandLineFixture {
    /// As `run`, with a text on standard input and further variables.
    func run(
        _ arguments: [String], input: String, environment more: [String: String] = [:], passcodes: [String]? = nil
    ) async throws -> Outcome {
        try await finish(try start(arguments, input: .text(input), environment: more, passcodes: passcodes))
    }

    func start(
        _ arguments: [String], input: ChildProcess.Input, environment more: [String: String] = [:],
        passcodes: [String]? = nil
    ) throws -> ChildProcess {
        let lines = Pipe()
        try lines.fileHandleForWriting.write(contentsOf: Data((passcodes ?? []).map { $0 + "\n" }.joined().utf8))
        try lines.fileHandleForWriting.close()
        defer { withExtendedLifetime(lines) {} }
        return try ChildProcess(
            BuiltProducts.path("applocker"), arguments + (passcodes == nil ? [] : ["--passcode-fd", "3"]),
            environment: environment.merging(more) { $1 },
            descriptors: [3: lines.fileHandleForReading.fileDescriptor], input: input)
    }

    func finish(_ child: ChildProcess) async throws -> Outcome {
        guard case .code(let status) = try await child.wait() else {
            throw POSIXError(.ECHILD, userInfo: [NSLocalizedDescriptionKey: "ended by a signal: \(child.errorOutput)"])
        }
        return Outcome(status: status, output: child.output, errors: child.errorOutput)
    }

    /// Adds a note with this text to the vault, which it opens.
    func addNote(_ title: String, _ body: String) async throws {
        let added = try await run(["note", "add", title, "-"], input: body, passcodes: [Self.passcode])
        try #require(added.status == 0, "\(added.errors)")
    }

    /// Titles of the open vault's notes, newest first.
    func noteTitles() async throws -> [String] {
        let list = try await run("note", "list", "--json")
        #expect(list.status == 0, "\(list.errors)")
        let notes = try #require(try list.json()["notes"] as? [[String: Any]])
        return notes.compactMap { $0["title"] as? String }
    }

    /// Starts AppLocker again on the same state, after `end`. It ends with the value.
    func startAgain() async throws -> ChildProcess {
        let again = try ChildProcess(
            BuiltProducts.path("applocker"),
            ["up", "--state", directory.path("state"), "--no-hub"] + (geteuid() == 0 ? [] : ["--user-mode"]))
        let isReady = await eventually("applocker up answers again") {
            let status = try await run("status", "--json")
            return status.status == 0 && !status.output.contains("gate_away")
        }
        try #require(isReady, "\(again.errorOutput)")
        return again
    }

    func end(_ again: ChildProcess) async throws {
        again.kill(SIGINT)
        #expect(try await again.wait() == .code(0))
    }

    /// Names of files below these places that contain this text and were written since. A file with the text proves the
    /// search. Without `-a` grep passes over the holes of sparse files: it would hold each in memory as one line.
    /// Outside the test's own directory only files below 64 MiB are read: other programs store gigabytes in /tmp.
    func files(holding text: String, below places: [String], newerThan stamp: String? = nil) async throws -> [String] {
        let newer = stamp.map { ["-newer", $0] } ?? []
        let proof = directory.path("proof-\(UUID().uuidString)")
        try Data(text.utf8).write(to: URL(fileURLWithPath: proof))
        defer { unlink(proof) }
        let found = try await ChildProcess.run(
            "find",
            places + [directory.path, "-type", "f"] + newer
                + ["(", "-path", directory.path("*"), "-o", "-size", "-64M", ")"]
                + ["-exec", "grep", "-l", "-F", text, "{}", "+"], timeout: .seconds(240))
        let names = Set(found.output.split(separator: "\n").map(String.init))
        try #require(names.contains(proof), "the search finds nothing: \(found.errorOutput)")
        return names.subtracting([proof]).sorted()
    }
}

extension CommandLineFixture.Outcome {
    /// The error's code, with `--json`.
    var code: String? { (try? json()["error"] as? [String: Any])?["code"] as? String }

    /// Whether the error is reported in one line that ends with a full stop.
    var isOneSentence: Bool {
        let lines = errors.split(separator: "\n")
        return lines.count == 1 && lines[0].hasPrefix("applocker: ") && lines[0].hasSuffix(".")
    }
}
