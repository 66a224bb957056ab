import ControlAPI
import Foundation
import TestSupport
import Testing

@testable import LocalControl

@Suite("Starting a denied launch again from its exec request")
struct ExecRequestStartTests {
    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private func execRequest(
        _ path: String, _ arguments: [String], environment: [String] = [], directory: String = "/"
    ) -> ExecRequest {
        ExecRequest(
            path: base64(path), directory: base64(directory), arguments: arguments.map(base64),
            environment: environment.map(base64))
    }

    private func contents(_ path: String) -> Data { FileManager.default.contents(atPath: path) ?? Data() }

    @Test("Arguments, environment and directory are kept byte for byte, LISTEN_PID is removed")
    func exact() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path("a place")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let script = "cat /proc/self/environ > environ; cat /proc/$$/cmdline > cmdline; pwd > done; mv done finished"
        var execRequest = execRequest(
            "/bin/sh", ["zero", "-c", script, "a b", "", "ü\n\"$x"],
            environment: ["LISTEN_PID=1", "ODD=a=b c", "LISTEN_PIDS=kept", "PATH=/usr/bin:/bin"], directory: place)
        execRequest.arguments.append(Data([0xFF, 0x01]).base64EncodedString())
        let process = try execRequest.start()
        #expect(process > 0)
        await eventually { FileManager.default.fileExists(atPath: place + "/finished") }
        #expect(contents(place + "/finished") == Data((place + "\n").utf8))
        let environment = contents(place + "/environ").split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        #expect(environment.contains("ODD=a=b c") && environment.contains("LISTEN_PIDS=kept"))
        #expect(!environment.contains { $0.hasPrefix("LISTEN_PID=") })
        let expected = ["zero", "-c", script, "a b", "", "ü\n\"$x"].map { Array($0.utf8) } + [[0xFF, 0x01]]
        #expect(contents(place + "/cmdline") == Data(expected.flatMap { $0 + [0] }))
        await eventually("the child is reaped") { kill(process, 0) != 0 }
    }

    @Test("It runs in a new session")
    func ownSession() async throws {
        let directory = try TemporaryDirectory()
        let execRequest = execRequest("/bin/sleep", ["sleep", "60"], directory: directory.path)
        let process = try await execRequest.startAndConfirm()
        #expect(getsid(process) == process)
        kill(process, SIGKILL)
        await eventually("the child is reaped") { kill(process, 0) != 0 }
    }

    @Test("A missing program or directory is an error with its errno")
    func notStarted() async throws {
        await #expect(throws: ExecRequestError.notStarted(path: "/nonexistent", code: ENOENT)) {
            try await execRequest("/nonexistent", ["x"]).startAndConfirm()
        }
        await #expect(throws: ExecRequestError.notStarted(path: "/bin/true", code: ENOENT)) {
            try await execRequest("/bin/true", ["x"], directory: "/nonexistent").startAndConfirm()
        }
        let (errors, error) = AsyncStream<ExecRequestError>.makeStream()
        try execRequest("/nonexistent", ["x"]).start { error.yield($0) }
        #expect(await errors.first { _ in true } == .notStarted(path: "/nonexistent", code: ENOENT))
    }

    @Test("An exec request that execve would reject is refused before anything is created")
    func malformed() {
        var notBase64 = execRequest("/bin/true", ["x"])
        notBase64.environment = ["%%%"]
        #expect(throws: ExecRequestError.malformed(field: "environment")) { try notBase64.start() }
        var zeroByte = execRequest("/bin/true", ["x"])
        zeroByte.arguments = [Data([0x61, 0x00]).base64EncodedString()]
        #expect(throws: ExecRequestError.malformed(field: "argument")) { try zeroByte.start() }
        #expect(throws: ExecRequestError.malformed(field: "argument list")) { try execRequest("/bin/true", []).start() }
        #expect(throws: ExecRequestError.malformed(field: "path")) { try execRequest("", ["x"]).start() }
    }
}
