import ControlAPI
import Foundation
import Glibc
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// "Fix…" on the overview, with the real command line behind it. The window sees a setting of the kernel and a directory
/// of settings that are this test's own, and a pkexec(1) without a dialog, which needs a polkit agent.
@Suite(.windowSession, .requires(.root, .fanotify, .path("/usr/bin/pkexec"), .path("/etc/sysctl.d")))
struct FixWindowTests {
    private let sentence = "Programs that change their user leave core files that their user can read."

    private func startWindow(_ session: WindowSession) async throws {
        let directory = session.directory
        try writePkexec(directory)
        try directory.write("1\n", to: "suid_dumpable")
        try directory.write("vm.swappiness = 10\n", to: "sysctl.d/60-applocker.conf")
        try await session.startWindow(
            mounts: """
                mount --bind \(directory.path("pkexec")) /usr/bin/pkexec
                mount --bind \(directory.path("suid_dumpable")) /proc/sys/fs/suid_dumpable
                mount --bind \(directory.path("sysctl.d")) /etc/sysctl.d
                """)
        try await session.awaitWords(sentence)
    }

    private func writePkexec(_ directory: TemporaryDirectory) throws {
        try directory.write(
            """
            #!/bin/sh
            [ "$1" = --disable-internal-agent ] && shift
            status=0
            [ ! -e \(directory.path("dismissed")) ] || status=126
            [ ! -e \(directory.path("refused")) ] || status=127
            echo "$@" >> \(directory.path("commands"))
            [ $status = 0 ] || exit $status
            exec "$@"

            """, to: "pkexec")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path("pkexec"))
    }

    private func content(_ session: WindowSession, _ name: String) -> String? {
        try? String(contentsOfFile: session.directory.path(name), encoding: .utf8)
    }

    @Test(arguments: WindowScreenKind.usual)
    func aSettingOfTheKernelIsMadeSafeAndTheProblemDisappears(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await startWindow(session)
        try await session.photograph("fix-overview")
        if screen == .x11 {
            let window = try #require(try await session.xWindows().first)
            try await session.x("xdotool", "windowsize", "--sync", window, "360", "720")
            try await session.press(keys: "alt+1")
            try await session.awaiting("the window is narrow") { try await session.windows().first?.width ?? 0 <= 360 }
            try await session.photograph("fix-narrow")
            let size = try await session.x("xdotool", "getwindowgeometry", "--shell", window)
            #expect(size.contains("WIDTH=360\n"), "\(size)")
        }
        try await session.press("Fix: \(sentence)")
        try await session.awaitWords("AppLocker sets fs.suid_dumpable to 0, now and in /etc/sysctl.d/60-applocker.conf")
        try await session.photograph("fix-question")
        #expect(content(session, "commands") == nil, "it asks before it does anything")
        try await session.press("Restrict")
        try await session.awaitWords("The problem is fixed.")
        try await session.awaiting("the problem is gone") { try await !session.shows(sentence) }
        try await session.photograph("fix-done")
        let command = try BuiltProducts.path("applocker") + " doctor --fix core-files\n"
        #expect(content(session, "commands") == command)
        #expect(content(session, "suid_dumpable") == "0\n")
        #expect(content(session, "sysctl.d/60-applocker.conf") == "vm.swappiness = 10\nfs.suid_dumpable = 0\n")
    }

    @Test(arguments: WindowScreenKind.usual)
    func aCancelledDialogChangesNothingAndARefusalIsOneSentence(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await startWindow(session)
        try await session.press("Fix: \(sentence)")
        try await session.awaitWords("Restrict core files?")
        try await session.press("Cancel")
        try await session.awaiting("the question is closed") { try await !session.shows("Restrict core files?") }
        #expect(content(session, "commands") == nil)

        let command = try BuiltProducts.path("applocker") + " doctor --fix core-files\n"
        let refusal = "The administrator's password was not accepted."
        try session.directory.write("", to: "refused")
        try await session.press("Fix: \(sentence)")
        try await session.press("Restrict")
        try await session.awaitWords(refusal)
        #expect(content(session, "commands") == command)
        try FileManager.default.removeItem(atPath: session.directory.path("refused"))
        try await session.awaiting("the refusal is gone") { try await !session.shows(refusal) }

        try session.directory.write("", to: "dismissed")
        try await session.press("Fix: \(sentence)")
        try await session.press("Restrict")
        try await session.awaiting("pkexec was dismissed") { content(session, "commands") == command + command }
        #expect(try await session.shows(sentence))
        #expect(content(session, "suid_dumpable") == "1\n")
        #expect(content(session, "sysctl.d/60-applocker.conf") == "vm.swappiness = 10\n")
    }

    /// The hub is real; what starts it is a script in the place of systemctl(1).
    @Test(.requires(.path("/usr/bin/systemctl"), .path("/usr/lib/systemd/system")), arguments: WindowScreenKind.usual)
    func aHubIsSetUpWithoutATerminal(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let directory = session.directory
        try writePkexec(directory)
        let hub = try BuiltProducts.path("applocker-hub")
        try directory.write(
            """
            #!/bin/bash
            [ "$1" = enable ] || { [ "$1" = is-active ] && [ -e \(directory.path("hub.pid")) ]; exit; }
            # systemd starts services without descriptors of the caller.
            for open in /proc/$$/fd/*; do [ "${open##*/}" -lt 3 ] || eval "exec ${open##*/}>&-"; done
            setsid \(hub) --state \(directory.path("hub")) --listen 127.0.0.1:8440 > \(directory.path("hub.log")) 2>&1 &
            echo $! > \(directory.path("hub.pid"))

            """, to: "systemctl")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path("systemctl"))
        try directory.write("[Service]\n", to: "units/applocker-hub.service")
        defer {
            if let pid = content(session, "hub.pid").flatMap({ pid_t($0.trimmingCharacters(in: .newlines)) }) {
                kill(pid, SIGTERM)
                for _ in 0..<500 where kill(pid, 0) == 0 { usleep(10_000) }
            }
        }
        try await session.startWindow(
            mounts: """
                mount --bind \(directory.path("pkexec")) /usr/bin/pkexec
                mount --bind \(directory.path("systemctl")) /usr/bin/systemctl
                mount --bind \(directory.path("units")) /usr/lib/systemd/system
                """)
        try await session.press(keys: "alt+8")
        try await session.awaitWords("A hub on this computer")
        try await session.photograph("hub-here")
        try await session.press("Set Up…")
        try await session.awaitWords("AppLocker enables the service applocker-hub, starts it now")
        #expect(content(session, "commands") == nil, "it asks before it does anything")
        try await session.press("Set Up")
        try await session.enterPasscode()
        try await session.awaitWords("Connected to the hub at http://127.0.0.1:8440.")
        #expect(content(session, "commands") == "/usr/bin/systemctl enable --quiet --now applocker-hub.service\n")
        try await session.awaiting("the page follows") { try await session.isShown("Show Code") }
        try await session.photograph("hub-here-connected")
        #expect(try await session.client.call(\.hubStatus).url == "http://127.0.0.1:8440")
        #expect(FileManager.default.fileExists(atPath: directory.path("hub/hub.sqlite")), "it is this test's hub")
    }
}
