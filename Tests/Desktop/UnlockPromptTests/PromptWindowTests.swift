import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The real program on a real X server, tested from outside: windows, keys, pixels, and what the socket receives.
@Suite(
    .requires(
        .display, .program("xdotool"), .program("import"), .program("xprop"), .program("xev"), .program("openbox"))
)
struct PromptWindowTests {
    /// The position of "NAME is locked" in the window.
    static let heading = "360x40+36+112"
    /// The position of the passcode field.
    static let field = "360x60+36+205"

    @Test(arguments: Desktop.Kind.allCases)
    func theWindowAppearsAcceptsThePasscodeAndCloses(kind: Desktop.Kind) async throws {
        let desktop = try await Desktop(kind)
        let prompt = try await desktop.startPrompt()
        #expect(try await desktop.windows().isEmpty, "no window without a waiting launch")
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("correct horse")
        try await desktop.press("Return")
        await eventually("the answer is received") { try desktop.daemon.answers("7").count == 1 }
        let answer = try #require(try desktop.daemon.answers("7").first)
        #expect(answer.passcode == "correct horse")
        #expect(answer.grant == GrantRequest(.duration, seconds: 300))
        await desktop.awaitNoWindow()
        #expect(prompt.isRunning)
    }

    @Test(.requires(.program("msgfmt"))) func itAsksInTheLanguageOfTheSession() async throws {
        let desktop = try await Desktop(.bareX11)
        let prompt = try await desktop.startPrompt(settings: ["LANGUAGE": "de"])
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator ist gesperrt")
        if let folder = ProcessInfo.processInfo.environment["APPLOCKER_PICTURES"] {
            try await desktop.x("import", "-window", "root", "\(folder)/prompt-german.png")
        }
        try await desktop.type("correct horse")
        try await desktop.press("Return")
        await eventually("the answer is received") {
            try desktop.daemon.answers("7").map(\.passcode) == ["correct horse"]
        }
        #expect(prompt.isRunning)
    }

    private func count(_ event: String, _ watcher: ChildProcess) -> Int {
        watcher.output.components(separatedBy: event).count - 1
    }

    @Test func underAWindowManagerItStaysOnTopWithTheKeyboard() async throws {
        let desktop = try await Desktop(.openbox)
        let prompt = try await desktop.startPrompt()
        // Twice: the second time the window manager could prevent it from taking the focus.
        for round in ["1", "2"] {
            // Each with a name of its own: that of the first round may still be closing.
            let other = try ChildProcess("xev", ["-name", "other \(round)"], environment: desktop.environment)
            await eventually("the other window has the keyboard") {
                try await desktop.x("xdotool", "getactivewindow", "getwindowname") == "other \(round)\n"
            }
            try await desktop.press("a", "b")
            try desktop.daemon.send(.ask(.sample(round)))
            try await desktop.awaitWindow("Calculator is locked")
            let window = try #require(try await desktop.windows().first)
            await eventually("it has the keyboard") {
                try await desktop.x("xdotool", "getactivewindow") == window + "\n"
            }
            await eventually("it is above the others") {
                try await desktop.x("xprop", "-id", window, "_NET_WM_STATE").contains("_NET_WM_STATE_ABOVE")
            }
            try await desktop.press("Escape")
            await desktop.awaitNoWindow()
            other.kill()
        }
        #expect(prompt.isRunning)
    }

    @Test func escapeCancels() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("half a passc")
        try await desktop.press("Escape")
        await desktop.awaitNoWindow()
        await eventually("the cancellation is received") {
            desktop.daemon.calls("POST /v1/prompts/7/cancel").count == 1
        }
        #expect(try desktop.daemon.answers("7").isEmpty)
        #expect(prompt.isRunning)
    }

    @Test func aWrongPasscodeShakesTheWindowAndEmptiesTheField() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        let watcher = try await wrongPasscode(on: desktop)
        // A busy machine may draw no frame within one animation: each refusal has its own.
        await eventually(every: .seconds(1), "a refusal shakes the window") {
            if watcher.output.contains("moved") { return true }
            try await desktop.type("wrong")
            try await desktop.press("Return")
            return false
        }
        desktop.daemon.onAnswer {
            $0.passcode.hasSuffix("right")
                ? .init(200, PromptAnswer())
                : .refused(ControlError(.wrongPasscode, "Wrong passcode."))
        }
        // What is typed while the last refusal is shown may be lost, or added to it.
        await eventually(every: .seconds(1), "the right answer") {
            if try desktop.daemon.answers("7").last?.passcode.hasSuffix("right") == true { return true }
            try await desktop.type("right")
            try await desktop.press("Return")
            return false
        }
        #expect(prompt.isRunning)
    }

    @Test func nothingMovesIfAnimationsAreTurnedOff() async throws {
        let desktop = try await Desktop(settings: ["gtk-enable-animations=0"])
        let prompt = try await desktop.startPrompt()
        let watcher = try await wrongPasscode(on: desktop)
        #expect(watcher.isRunning && !watcher.output.contains("moved"))
        #expect(prompt.isRunning)
    }

    /// The heading, once it is drawn and does not change.
    private func drawnHeading(_ desktop: Desktop) async -> Data {
        var heading = Data()
        await eventually("the heading is drawn") {
            let before = heading
            heading = try await desktop.photograph(Self.heading)
            return Set(heading).count > 10 && heading == before
        }
        return heading
    }

    /// Enters a wrong passcode, and returns the program that prints "moved" once the heading moves.
    private func wrongPasscode(on desktop: Desktop) async throws -> ChildProcess {
        desktop.daemon.onAnswer { _ in
            .refused(ControlError(.wrongPasscode, "Wrong passcode. 4 attempts left before a lockout."))
        }
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        let still = await drawnHeading(desktop)
        let plain = try await desktop.warningPoints()
        try await desktop.type("wrong")
        let watcher = try await desktop.watchMovement(of: Self.heading)
        try await desktop.press("Return")
        await eventually("the refusal is shown") { try await desktop.warningPoints() > plain + 200 }
        await eventually("it stops at its first position") { try await desktop.photograph(Self.heading) == still }
        #expect(watcher.isRunning, "\(watcher.errorOutput)")
        return watcher
    }

    @Test func duringALockoutThePasscodeCannotBeEntered() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        desktop.daemon.onAnswer { _ in
            .refused(ControlError(.lockedOut, "Too many wrong passcodes.", retryAfterSeconds: 3))
        }
        try desktop.daemon.send(.ask(.sample("7", expiresInSeconds: 120)))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("wrong")
        try await desktop.press("Return")
        await eventually("the first answer") { try desktop.daemon.answers("7").count == 1 }
        desktop.daemon.onAnswer { _ in .init(200, PromptAnswer()) }
        // Typed during the lockout and after it, when the field has the keyboard again without a click.
        await eventually(every: .milliseconds(100), "the second answer") {
            try await desktop.press("space")
            try await desktop.type("2")
            try await desktop.press("Return")
            return try desktop.daemon.answers("7").count == 2
        }
        #expect(desktop.daemon.calls("POST /v1/prompts/7/cancel").isEmpty, "no button was pressed")
        let passcodes = try desktop.daemon.answers("7").map { $0.passcode.trimmingCharacters(in: .whitespaces) }
        #expect(passcodes == ["wrong", "2"])
        // Real time is what is tested: there is no answer within the three seconds.
        let instants = desktop.daemon.calls("POST /v1/prompts/7/answer").map(\.instant)
        try #require(instants.count == 2)
        #expect(instants[1] - instants[0] >= .seconds(3))
        #expect(prompt.isRunning)
    }

    @Test func theDurationIsChosenWithTheKeyboardAlone() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        let watcher = try await desktop.watchWindows()
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("1234")
        // Then xev has also reported all earlier events.
        let window = try #require(try await desktop.windows().first.flatMap { Int($0) })
        await eventually("xev reports the window") {
            watcher.output.components(separatedBy: "\n\n").contains { event in
                event.contains("MapNotify") && event.contains("window 0x\(String(window, radix: 16)), override")
            }
        }
        let (opened, closed) = (count("MapNotify", watcher), count("UnmapNotify", watcher))
        try await desktop.press("Tab", "space")
        await eventually("the list opens") { count("MapNotify", watcher) > opened }
        try await desktop.press("End", "Up", "Return")
        await eventually("the list closes") { count("UnmapNotify", watcher) > closed }
        try await desktop.press("alt+u")
        await eventually("the answer") { try desktop.daemon.answers("7").count == 1 }
        let answer = try #require(try desktop.daemon.answers("7").first)
        #expect(answer.grant == GrantRequest(.thisLaunch))
        #expect(answer.passcode == "1234")
        #expect(prompt.isRunning)
    }

    @Test func waitingLaunchesAreShownOneAfterTheOther() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        for name in ["Firefox", "Chromium", "Terminal"] { try desktop.daemon.send(.ask(.sample(name, name: name))) }
        try await desktop.awaitWindow("Firefox is locked")
        #expect(try await desktop.windows().count == 1)
        // Another prompter answered the second one meanwhile.
        try desktop.daemon.send(.settled(prompt: "Chromium", outcome: .allowed))
        try await desktop.type("1234")
        try await desktop.press("Return")
        try await desktop.awaitWindow("Terminal is locked")
        try desktop.daemon.send(.settled(prompt: "Terminal", outcome: .timedOut))
        await desktop.awaitNoWindow()
        #expect(try desktop.daemon.answers("Firefox").count == 1)
        #expect(desktop.daemon.calls.allSatisfy { !$0.route.contains("Terminal") })
        #expect(prompt.isRunning)
    }

    @Test func theRestOfAPasscodeIsNoAnswerToAnotherLaunch() async throws {
        let desktop = try await Desktop(settings: ["gtk-cursor-blink=0"], repeatsKeys: true)
        let prompt = try await desktop.startPrompt()
        for name in ["Firefox", "Terminal"] { try desktop.daemon.send(.ask(.sample(name, name: name))) }
        try await desktop.awaitWindow("Firefox is locked")
        _ = await drawnHeading(desktop)
        let empty = try await desktop.photograph(Self.field)
        // Held until Return, however long the rest takes: the X server repeats it many times in a second.
        try await desktop.x("xdotool", "keydown", "x")
        await eventually("something is typed") { try await desktop.photograph(Self.field) != empty }
        try desktop.daemon.send(.settled(prompt: "Firefox", outcome: .allowed))
        await eventually("the other launch is shown") { try await desktop.title() == "Terminal is locked" }
        try await desktop.press("Return")
        try await desktop.x("xdotool", "keyup", "x")
        // Real time has to pass: the window accepts input again after a second without a key.
        try await Task.sleep(for: .seconds(2))
        #expect(try desktop.daemon.answers("Terminal").isEmpty)
        if let folder = ProcessInfo.processInfo.environment["APPLOCKER_PICTURES"] {
            try await desktop.x("import", "-window", "root", "\(folder)/prompt-another-launch.png")
        }
        try await desktop.type("correct horse")
        try await desktop.press("Return")
        await eventually("the answer") { try desktop.daemon.answers("Terminal").count == 1 }
        #expect(try desktop.daemon.answers("Terminal").map(\.passcode) == ["correct horse"])
        #expect(desktop.daemon.calls.allSatisfy { !$0.route.contains("Firefox") })
        #expect(prompt.isRunning)
    }

    @Test func itFollowsTheDarkTheme() async throws {
        func brightness(_ settings: [String]) async throws -> Int {
            let desktop = try await Desktop(settings: settings)
            let prompt = try await desktop.startPrompt()
            try desktop.daemon.send(.ask(.sample("7")))
            try await desktop.awaitWindow("Calculator is locked")
            let pixels = await drawnHeading(desktop)
            #expect(prompt.isRunning)
            return pixels.reduce(0) { $0 + Int($1) } / max(1, pixels.count)
        }
        #expect(try await brightness([]) > 200)
        #expect(try await brightness(["gtk-application-prefer-dark-theme=1"]) < 80)
    }
}
