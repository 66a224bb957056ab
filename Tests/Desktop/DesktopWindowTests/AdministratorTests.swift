import DesktopModels
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
        let pkexec = "#!/bin/sh\n[ \"$1\" = --disable-internal-agent ] && shift\ncd \(directory.path)\n\(script)\n"
        for name in ["pkexec", "applocker", "systemctl", "apt-get"] {
            try directory.write(name == "pkexec" ? pkexec : "#!/bin/sh\n", to: name)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: directory.path(name))
        }
        return try #require(
            Administrator(
                pkexec: directory.path("pkexec"), systemctl: directory.path("systemctl"),
                aptGet: directory.path("apt-get"), units: directory.path, directory: directory.path,
                socket: "/run/x/control.sock"))
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
        #expect(!administrator.canStartService)
        try directory.write("", to: "applocker-gate.service")
        #expect(administrator.canStartService)
        try await administrator.startService()
        #expect(
            try content("arguments") == "\(directory.path)/systemctl start applocker-gate.service applockerd.service ")
    }

    @Test(arguments: [
        (HostFix.restrictTracing, "applocker doctor --fix tracing"),
        (.restrictCoreFiles, "applocker doctor --fix core-files"),
        (.enableServices, "systemctl enable --quiet --now applocker-gate.service applockerd.service"),
        (.installFfmpeg, "apt-get install --yes --no-remove ffmpeg"),
        (.startHub, "systemctl enable --quiet --now applocker-hub.service"),
    ])
    func eachChangeIsAFixedCommandOfAnAbsolutePath(fix: HostFix, command: String) async throws {
        let administrator = try administrator("printf '%s ' \"$@\" > arguments")
        for unit in ["applockerd.service", "applocker-gate.service", "applocker-hub.service"] {
            try directory.write("", to: unit)
        }
        #expect(administrator.canMake(fix))
        try await administrator.make(fix)
        #expect(try content("arguments") == "\(directory.path)/\(command) ")
    }

    @Test func aChangeThatTheComputerHasNoProgramForIsNotOffered() throws {
        let administrator = try administrator("")
        #expect(!administrator.canMake(.enableServices) && !administrator.canMake(.startHub))
        try FileManager.default.removeItem(atPath: directory.path("apt-get"))
        #expect(!administrator.canMake(.installFfmpeg))
        #expect(administrator.canMake(.restrictTracing))
    }

    @Test(arguments: [
        ("echo 'applocker: This kernel has no x.y.' >&2; exit 1", "This kernel has no x.y."),
        ("printf 'W: slow\\nE: Unable to locate package ffmpeg\\n' >&2; exit 100", "Unable to locate package ffmpeg"),
        (
            "printf 'Error executing command\\n\\nThis incident has been reported.\\n' >&2; exit 127",
            "The administrator's password was not accepted."
        ),
        (
            "echo 'Error executing command as another user: No authentication agent found.' >&2; exit 127",
            "This desktop has no polkit agent, so that no administrator's password can be entered."
        ),
        ("exit 4", "The change failed with status 4."),
    ])
    func aFailureIsOneSentence(script: String, sentence: String) async throws {
        let error = await #expect(throws: Administrator.Refused.self) {
            try await administrator(script).make(.restrictTracing)
        }
        #expect(error?.description == sentence)
    }

    @Test func withoutPolkitThereIsNoSuchWay() {
        #expect(Administrator(pkexec: "/nonexistent/pkexec", directory: directory.path, socket: "/x") == nil)
    }
}
