import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// One app: how it gets on the list, and its own passcode.
@Suite(.windowSession, .requires(.program("gnome-calculator"))) struct AppWindowTests {
    private let calculator = "org.gnome.Calculator"
    private static let entry = "/usr/share/applications/org.gnome.Calculator.desktop"

    @Test(arguments: WindowScreenKind.usual)
    func anAppGetsItsOwnPasscodeWhichUnlocksItUntilItIsRemoved(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let client = session.client
        _ = try await client.call(\.addApp, token: try await session.token(), body: AddAppRequest(app: calculator))
        try await session.startWindow()
        try await openRules(session)
        try await session.fill("New own passcode", "blue door 7")
        try await session.press("Set Own Passcode")
        // The owner's.
        try await session.enterPasscode("blue door 7")
        try await session.awaitWords("Wrong passcode.")
        try await session.enterPasscode()
        try await session.awaiting("it has its own passcode") {
            try await client.call(\.listApps).apps.map(\.hasOwnPasscode) == [true]
        }
        try await session.awaitWords("Remove Own Passcode")
        try await session.photograph("own-passcode")
        try await closeRules(session)
        try await session.awaitWords("own passcode")

        try await session.openMenu("Unlock Calculator")
        try await session.press("5 minutes")
        try await session.awaitWords("Enter its own passcode, or the owner's.")
        try await session.photograph("own-passcode-question")
        try await session.enterPasscode("blue door 7", verb: "Unlock")
        try await session.awaitWords("Unlocked until")
        #expect(try await client.call(\.listApps).apps.map(\.state) == [.unlocked])
        try await session.press("Lock Calculator", role: "push button")
        try await session.awaiting("it is locked") { try await client.call(\.listApps).apps.map(\.state) == [.locked] }

        try await session.awaiting("the list shows it") { try await session.isShown("Unlock Calculator") }
        try await openRules(session)
        try await session.press("Remove Own Passcode")
        try await session.enterPasscode()
        try await session.awaiting("it has no passcode of its own") {
            try await client.call(\.listApps).apps.map(\.hasOwnPasscode) == [false]
        }
        try await session.awaiting("the button is gone") { try await !session.isShown("Remove Own Passcode") }
        let unlock = UnlockRequest(
            apps: [calculator], grant: GrantRequest(.duration, seconds: 300), passcode: "blue door 7")
        await #expect(throws: ControlError.self) { _ = try await client.call(\.unlock, body: unlock) }
        #expect(try await client.call(\.listApps).apps.map(\.state) == [.locked])
    }

    /// By keyboard: the row after the search.
    private func openRules(_ session: WindowSession) async throws {
        try await session.press(keys: "alt+2")
        try await session.awaiting("the list shows it") { try await session.isShown("Unlock Calculator") }
        try await session.press(keys: "ctrl+f", "Tab", "Return")
        try await session.awaitWords("Always locked")
    }

    private func closeRules(_ session: WindowSession) async throws {
        try await session.press(keys: "alt+F4")
        try await session.awaiting("its window closes") { try await session.windows().count == 1 }
    }

    @Test(.requires(.path("/usr/share/doc/gir1.2-gtk-4.0")))
    func anEntryAndAProgramAreLockedByDragAndDrop() async throws {
        let session = try await WindowSession()
        let program = session.directory.path("chess")
        try FileManager.default.copyItem(atPath: "/usr/bin/true", toPath: program)
        try await session.startWindow()
        try await session.press(keys: "alt+2")
        try await session.awaitWords("Other apps")

        let files = try ChildProcess(
            "/usr/bin/python3",
            [WindowSession.script("drag.py"), Self.entry, program],
            environment: session.environment)
        var window = ""
        try await session.awaiting("the files are shown: \(files.stateDescription)") {
            window = try await session.x("xdotool", "search", "--onlyvisible", "--name", "^files$")
                .trimmingCharacters(in: .whitespacesAndNewlines)
            return !window.isEmpty
        }
        try await session.x("xdotool", "windowmove", "--sync", window, "0", "0")
        try await session.x("xdotool", "mousemove", "60", "60", "mousedown", "1")
        // A window learns of the pointer by its movements.
        var step = 0
        func move(x: Int, y: Int) async throws {
            step = (step + 1) % 40
            try await session.x("xdotool", "mousemove", "\(x + step)", "\(y)")
        }
        try await session.awaiting("the files are dragged") {
            try await move(x: 70, y: 80)
            return files.output.contains("dragging")
        }
        try await session.awaiting("the page accepts them: \(files.errorOutput)") {
            try await move(x: 700, y: 300)
            return files.output.contains("accepted")
        }
        try await session.photograph("apps-drag")
        try await session.x("xdotool", "mouseup", "1")
        // One passcode for both.
        try await session.awaitWords("Changes need no passcode for some minutes then.")
        #expect(try await session.client.call(\.listApps).apps.isEmpty)
        try await session.enterPasscode()
        var apps: [AppReport] = []
        try await session.awaiting("both are locked") {
            apps = try await session.client.call(\.listApps).apps
            return apps.count == 2
        }
        #expect(Set(apps.map(\.name)) == ["Calculator", "chess"])
        #expect(apps.contains { $0.id == calculator })
        #expect(apps.contains { $0.executables == [program] })
        #expect(apps.allSatisfy { $0.state == .locked })
        for name in ["Calculator", "chess"] {
            try await session.awaiting("the list shows it") { try await session.isShown("Unlock \(name)") }
        }
        try await session.photograph("apps-dropped")
    }
}
