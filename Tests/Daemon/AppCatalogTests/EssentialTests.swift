import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import AppCatalog

/// These tests use the machine that runs them: a list that misses its real files would be useless.
@Suite("Essential files of this machine")
struct EssentialTests {
    private static let machine = Essential(
        environment: CatalogEnvironment(home: "/root"), ownFiles: ["/usr/bin/less", "/proc/self/exe"])

    private var essential: Essential { Self.machine }

    @Test(
        "The machine's own programs are refused for the right reason",
        arguments: [
            ("/bin/sh", Refusal.Code.shell), ("/bin/bash", .shell), ("/usr/bin/dash", .shell),
            ("/lib64/ld-linux-x86-64.so.2", .loader), ("/bin/ls", .requiredPackage), ("/usr/bin/env", .starter),
            ("/bin/mount", .system), ("/usr/bin/passwd", .privilege), ("/bin/su", .privilege),
            ("/usr/bin/dpkg", .system), ("/bin/login", .privilege), ("/usr/bin/python3", .interpreter),
            ("/usr/bin/perl", .interpreter), ("/usr/bin/awk", .interpreter), ("/bin/grep", .requiredPackage),
            ("/lib/x86_64-linux-gnu/libc.so.6", .library), ("/usr/lib/x86_64-linux-gnu/libm.so.6", .library),
        ])
    func refused(path: String, code: Refusal.Code) {
        let refusal = essential.refusal(for: path)
        #expect(refusal != nil, "\(path)")
        // A library of libc6 or of a required package has that reason.
        if code != .library { #expect(refusal?.code == code, "\(path)") }
        #expect(refusal?.sentence.hasPrefix("/") == true && refusal?.sentence.hasSuffix(".") == true)
    }

    @Test("An interpreter's refusal names what to lock instead")
    func advice() {
        #expect(
            essential.refusal(for: "/usr/bin/python3")?.sentence.contains("lock the app's own script instead") == true)
    }

    @Test("Every program of essential and required packages is refused")
    func requiredPackages() async throws {
        let list = try await ChildProcess.run(
            "/usr/bin/dpkg-query", ["-W", "-f", "${Essential} ${Priority} ${Package}\n"])
        var names: [String] = []
        for line in list.output.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            if words.count == 3, words[0] == "yes" || words[1] == "required" { names.append(String(words[2])) }
        }
        #expect(names.count > 20)
        let files = try await ChildProcess.run("/usr/bin/dpkg-query", ["-L"] + names)
        var checked = 0
        for path in files.output.split(separator: "\n").map(String.init) where path.contains("bin/") {
            guard FileManager.default.isExecutableFile(atPath: path), isFile(path) else { continue }
            checked += 1
            #expect(essential.refusal(for: path) != nil, "\(path)")
        }
        #expect(checked > 200)
    }

    private func isFile(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
    }

    @Test("Neither a symbolic link, a hard link nor a copy's name bypasses the refusal")
    func links() throws {
        let directory = try TemporaryDirectory()
        let symbolic = directory.path("innocent")
        try FileManager.default.createSymbolicLink(atPath: symbolic, withDestinationPath: "/bin/bash")
        #expect(essential.refusal(for: symbolic)?.code == .shell)
        let hard = "/usr/bin/applocker-test-link-\(getpid())"
        if link("/usr/bin/bash", hard) == 0 {
            defer { unlink(hard) }
            #expect(essential.refusal(for: hard)?.code == .shell)
        } else {
            #expect(geteuid() != 0, "root can make a hard link in /usr/bin")
        }
        let loop = directory.path("loop")
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(essential.refusal(for: loop) == nil)
    }

    @Test("A bind mount does not bypass the refusal", .requires(.root, .userNamespaces))
    func bindMount() async throws {
        let directory = try TemporaryDirectory()
        let target = try directory.write("", to: "innocent")
        _ = try await ChildProcess.run("/bin/mount", ["--bind", "/bin/bash", target])
        defer { umount2(target, Int32(MNT_DETACH)) }
        #expect(essential.refusal(for: target)?.code == .shell)
    }

    /// In a tree of its own: process 1 of this machine may be hidden even from root, as in some virtual machines.
    @Test(
        "The program of process 1 is refused",
        arguments: ["/usr/lib/systemd/systemd", "/usr/sbin/init", "/usr/sbin/openrc-init", "/usr/sbin/runit-init"])
    func firstProcess(program: String) throws {
        let tree = try FixtureTree()
        try tree.program(program, "/usr/bin/innocent")
        try tree.link("/usr/bin/renamed", to: program)
        let essential = Essential(environment: tree.environment())
        #expect(essential.refusal(for: program) != nil)
        #expect(essential.refusal(for: "/usr/bin/renamed") != nil)
        #expect(essential.refusal(for: "/usr/bin/innocent") == nil)
    }

    @Test("AppLocker's own files are refused by every name")
    func own() throws {
        #expect(essential.refusal(for: "/usr/bin/less")?.code == .ownFile)
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(essential.refusal(for: tests)?.code == .ownFile)
        #expect(RunningServers.executable(ofProcess: getpid()) == HostFiles(root: "").resolve(tests)?.status.identity)
    }

    @Test(
        "Ordinary apps can be locked",
        .requires(
            .program("chromium"), .program("firefox-esr"), .program("gnome-calculator"), .program("localc"),
            .path("/usr/bin/vim.basic")),
        arguments: [
            "/usr/bin/chromium", "/usr/lib/chromium/chromium", "/usr/lib/firefox-esr/firefox-esr",
            "/usr/bin/gnome-calculator", "/usr/lib/libreoffice/program/soffice.bin", "/usr/bin/vim.basic",
        ])
    func ordinary(path: String) {
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(essential.refusal(for: path) == nil)
    }

    @Test("A user's own interpreter is refused, a harmless file with a system name is not")
    func elsewhere() throws {
        let tree = try FixtureTree()
        try tree.program("/home/ann/.pyenv/bin/python3.12", "/home/ann/tools/login", "/usr/bin/su")
        let essential = Essential(environment: tree.environment())
        #expect(essential.refusal(for: "/home/ann/.pyenv/bin/python3.12")?.code == .interpreter)
        #expect(essential.refusal(for: "/home/ann/tools/login") == nil)
        #expect(essential.refusal(for: "/usr/bin/su")?.code == .privilege)
    }

    @Test("Desktop shells, installed sessions and the display manager are refused")
    func desktop() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/gnome-shell", "/usr/local/bin/my-wm", "/usr/sbin/mydm", "/opt/session/start")
        try tree.write(
            "[Desktop Entry]\nType=Application\nName=Mine\nExec=env X=1 my-wm\n", to: "/usr/share/xsessions/m.desktop")
        try tree.write(
            "[Desktop Entry]\nType=Application\nName=S\nExec=/opt/session/start\n",
            to: "/usr/share/wayland-sessions/s.desktop")
        try tree.write("/usr/sbin/mydm\n", to: "/etc/X11/default-display-manager")
        let essential = Essential(environment: tree.environment())
        #expect(essential.refusal(for: "/usr/bin/gnome-shell")?.code == .desktop)
        #expect(essential.refusal(for: "/usr/local/bin/my-wm")?.code == .desktop)
        #expect(essential.refusal(for: "/opt/session/start")?.code == .desktop)
        #expect(essential.refusal(for: "/usr/sbin/mydm")?.code == .displayManager)
    }

    @Test("The server of a running display is refused by every name", .requires(.root, .program("Xvfb")))
    func runningServer() async throws {
        let directory = try TemporaryDirectory()
        let copy = directory.path("not-called-x")
        let original = try #require(Requirement.findProgram("Xvfb"))
        let real = URL(fileURLWithPath: original).resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: real, toPath: copy)
        let environment = CatalogEnvironment(home: "/root")
        #expect(Essential(environment: environment, running: RunningServers.probe()).refusal(for: copy) == nil)
        // Xvfb chooses a free display and prints its number once it listens.
        let server = try ChildProcess(copy, ["-displayfd", "1", "-screen", "0", "64x64x8", "-nolisten", "tcp"])
        await eventually("the X server listens or ends") { server.output.hasSuffix("\n") || !server.isRunning }
        try #require(server.isRunning, "\(server.stateDescription)")
        let now = Essential(environment: environment, running: RunningServers.probe())
        #expect(now.refusal(for: copy)?.code == .runningServer)
        // On SIGTERM it removes its socket.
        server.kill(SIGTERM)
        try await server.wait()
    }
}
