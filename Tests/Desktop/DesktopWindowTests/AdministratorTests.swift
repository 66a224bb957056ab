import Foundation
import TestSupport
import Testing

@testable import DesktopWindow

/// With a script in the place of pkexec(1), whose dialog needs a polkit agent.
struct AdministratorTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func administrator(_ script: String) throws -> Administrator {
        let pkexec = "#!/bin/sh\ncd \(directory.path)\n\(script)\n"
        for (name, text) in [("pkexec", pkexec), ("applocker", "#!/bin/sh\n"), ("systemctl", "#!/bin/sh\n")] {
            try directory.write(text, to: name)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: directory.path(name))
        }
        return try #require(
            Administrator(
                pkexec: directory.path("pkexec"), systemctl: directory.path("systemctl"), units: directory.path,
                directory: directory.path, socket: "/run/x/control.sock"))
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    @Test func thePasscodeGoesThroughAPipeAndIsNoArgument() async throws {
        let administrator = try administrator("printf '%s ' \"$@\" > arguments; cat > input")
        try await administrator.set("correct horse 9")
        #expect(
            try content("arguments")
                == "\(directory.path)/applocker setup --socket /run/x/control.sock --passcode-fd 0 ")
        #expect(try content("input") == "correct horse 9\n")
    }

    @Test func aDismissedDialogIsNoFailureAndARefusalHasItsReason() async throws {
        await #expect(throws: CancellationError.self) { try await administrator("exit 126").set("correct horse 9") }
        await #expect(throws: Administrator.Refused.self) { try await administrator("exit 127").set("correct horse 9") }
        do {
            try await administrator("echo 'A passcode is set already.' >&2; exit 1").set("correct horse 9")
            Issue.record("it was refused")
        } catch {
            #expect("\(error)" == "A passcode is set already.")
        }
    }

    @Test func theServiceIsStartedWhereItIsInstalled() async throws {
        let administrator = try administrator("printf '%s ' \"$@\" > arguments")
        #expect(!administrator.canStartService)
        try directory.write("", to: "applockerd.service")
        #expect(administrator.canStartService)
        try await administrator.startService()
        #expect(try content("arguments") == "\(directory.path)/systemctl start applockerd.service ")
    }

    @Test func withoutPolkitThereIsNoSuchWay() {
        #expect(Administrator(pkexec: "/nonexistent/pkexec", directory: directory.path, socket: "/x") == nil)
    }
}
