import DesktopSession
import Foundation
import LocalControl
import TestSupport
import Testing

@testable import UnlockPrompt

struct PromptOptionsTests {
    private func task(_ arguments: [String]) -> PromptOptions.Task? {
        guard case .options(let options) = PromptOptions.parsed(arguments) else { return nil }
        return options.task
    }

    private func exitCode(_ arguments: [String]) -> Int32? {
        guard case .exit(let code) = PromptOptions.parsed(arguments) else { return nil }
        return code
    }

    @Test func theCommandLineIsParsed() {
        #expect(task([]) == .prompt(socket: nil))
        #expect(task(["--socket", "/run/x"]) == .prompt(socket: "/run/x"))
        #expect(task(["--socket=/run/x"]) == .prompt(socket: "/run/x"))
        #expect(task(["--photo-fd", "3"]) == .showPhoto(3, caption: nil, hides: false))
        #expect(task(["--link-fd", "3"]) == .showLink(3))
        #expect(task(["--photo-fd", "3", "--caption-fd", "4"]) == .showPhoto(3, caption: 4, hides: false))
        #expect(task(["--photo-fd", "3", "--hide-on-capture"]) == .showPhoto(3, caption: nil, hides: true))
        #expect(task(["--unlock-all", "--socket", "/run/x"]) == .unlockAll(socket: "/run/x"))
        #expect(task(["--keep-open=firefox"]) == .keepOpen(app: "firefox", socket: nil))
        #expect(task(["--keep-open", "a", "--socket", "/run/x"]) == .keepOpen(app: "a", socket: "/run/x"))
        #expect(task(["--hold-clipboard-fd", "3", "--seconds", "30"]) == .holdClipboard(3, seconds: 30))
        #expect(exitCode(["--help"]) == 0)
        #expect(exitCode(["--version"]) == 0)
    }

    @Test(arguments: [
        ["--socket"], ["--socket", ""], ["--passcode", "1234"], ["run"], ["--photo-fd"], ["--photo-fd", "-1"],
        ["--photo-fd", "x"],
        ["--caption-fd", "3"], ["--hide-on-capture"], ["--hold-clipboard-fd", "3"],
        ["--hold-clipboard-fd", "3", "--seconds", "0"], ["--hold-clipboard-fd", "3", "--seconds", "3601"],
    ])
    func invalidArgumentsAreRefused(arguments: [String]) { #expect(exitCode(arguments) == 2) }

    @Test func theSocketIsSearchedForInTheOrderOfTheCommandLine() {
        let home = ["HOME": "/home/alice"]
        let own = "/home/alice/.local/state/applocker/control.sock"
        let named = home.merging(["APPLOCKER_SOCKET": "/run/b"]) { $1 }
        #expect(ControlSocketPath.find(option: "/run/a", environment: named) { _ in true } == "/run/a")
        #expect(ControlSocketPath.find(option: nil, environment: named) { _ in true } == "/run/b")
        #expect(ControlSocketPath.find(option: nil, environment: home) { _ in true } == ControlSocketPath.system)
        #expect(ControlSocketPath.find(option: nil, environment: home) { $0 == own } == own)
        #expect(ControlSocketPath.find(option: nil, environment: home) { _ in false } == ControlSocketPath.system)
    }
}

struct SessionLockTests {
    @Test func oneSessionHasOnePrompter() throws {
        let directory = try TemporaryDirectory()
        let first = try SessionLock(directory: directory.path("state"), session: ":0")
        #expect(throws: SessionLock.Failure.taken) {
            try SessionLock(directory: directory.path("state"), session: ":0")
        }
        let other = try SessionLock(directory: directory.path("state"), session: ":1")
        #expect(first.path != other.path)
    }
}

struct DesktopProcessesTests {
    @Test func theListenerOfASocketIsFound() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("socket")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        #expect(DesktopProcesses.listener(of: path) == nil, "no process listens yet")
        try #require(listen(listener, 1) == 0)
        #expect(DesktopProcesses.listener(of: path) == getpid())
        #expect(DesktopProcesses.listener(of: directory.path("nothing")) == nil)
        #expect(DesktopProcesses.listener(of: String(repeating: "x", count: 200)) == nil)
    }
}
