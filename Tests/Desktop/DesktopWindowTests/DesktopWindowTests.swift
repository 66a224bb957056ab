import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The real window with a real daemon behind it, read and operated as a screen reader and a keyboard do.
@Suite(.windowSession) struct DesktopWindowTests {
    /// A key for each page, and words that only it shows.
    private let pages = [
        ("alt+1", "Overview", "No app is locked"), ("alt+2", "Apps", "No app is locked yet"),
        ("alt+3", "Activity", "Each event names the one before it"), ("alt+4", "Notes", "The vault is locked"),
        ("alt+5", "Files", "The vault is locked"), ("alt+6", "Everline", "The vault is locked"),
        ("alt+7", "Intruder Photos", "The vault is locked"), ("alt+8", "Devices", "A hub passes sealed records"),
        ("alt+9", "Backup and Recovery", "Make Recovery Sheet"), ("alt+0", "Settings", "An unlock lasts"),
    ]

    @Test func eachPageOpensByKeyboardAndFitsANarrowWindow() async throws {
        let session = try await WindowSession()
        try await session.startWindow()
        for (key, title, words) in pages {
            try await session.press(keys: key)
            try await session.awaitWords(words)
            #expect(try await session.isShown(title))
            try await session.photograph("page-\(title.lowercased().replacingOccurrences(of: " ", with: "-"))")
        }
        let window = try #require(try await session.xWindows().first)
        try await session.x("xdotool", "windowsize", "--sync", window, "360", "720")
        for (key, title, words) in pages {
            try await session.press(keys: key)
            try await session.awaitWords(words)
            try await session.photograph("narrow-\(title.lowercased().replacingOccurrences(of: " ", with: "-"))")
            let size = try await session.x("xdotool", "getwindowgeometry", "--shell", window)
            #expect(size.contains("WIDTH=360\n"), "\(title): \(size)")
        }
        // Back among the pages, as the keys show that it takes to open the first one.
        try await session.press(keys: "alt+Left", "Home", "Return")
        try await session.awaitWords("No app is locked")
    }

    /// GNOME on a phone gives each window its whole screen.
    @Test func eachPageFitsAPhonesScreen() async throws {
        let session = try await WindowSession(on: .phone)
        try await session.startWindow()
        for (key, title, words) in pages {
            try await session.press(keys: key)
            try await session.awaitWords(words)
            let window = try #require(try await session.windows().first)
            #expect(window.width <= 360 && window.height <= 720, "\(title): \(window)")
        }
    }

    @Test(.requires(.program("gnome-calculator")), arguments: WindowScreenKind.both)
    func anAppIsLockedAndUnlockedAndAWrongPasscodeIsAnsweredInWords(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+2")
        try await session.press("Lock Calculator", role: "push button")
        try await session.awaitWords("Changes need no passcode for some minutes then.")
        try await session.enterPasscode("wrong")
        try await session.awaitWords("Wrong passcode.")
        try await session.photograph("passcode-refused")
        #expect(try await session.client.call(\.listApps).apps.isEmpty)
        try await session.enterPasscode()
        try await session.awaitWords("Calculator is locked.")
        #expect(try await session.client.call(\.listApps).apps.map(\.state) == [.locked])
        // The session is open now: the padlock has the time that is left.
        try await session.awaitWords("End changes without passcode")
        try await session.photograph("app-locked")

        try await session.openMenu("Unlock Calculator")
        try await session.press("5 minutes")
        try await session.enterPasscode(verb: "Unlock")
        try await session.awaitWords("Unlocked until")
        #expect(try await session.client.call(\.listApps).apps.map(\.state) == [.unlocked])
        try await session.press(keys: "alt+1")
        try await session.awaitWords("Open now")
        try await session.photograph("app-unlocked")
        try await session.press("Lock Calculator", role: "push button")
        try await session.awaiting("it is locked") {
            try await session.client.call(\.listApps).apps.map(\.state) == [.locked]
        }
    }

    @Test(.requires(.root, .program("gnome-calculator")), arguments: WindowScreenKind.usual)
    func aWaitingLaunchIsShownAndDenied(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+2")
        try await session.press("Lock Calculator", role: "push button")
        try await session.enterPasscode()
        try await session.awaiting("the list shows it") { try await session.isShown("Unlock Calculator") }
        // Or the launch could end by itself while the window is read.
        let token = try await session.token()
        _ = try await session.client.call(
            \.changeSettings, token: token, body: ChangeSettingsRequest(promptTimeoutSeconds: 300))
        let prompts = try await session.client.prompts()
        let prompter = Task { for try await _ in prompts {} }
        defer { prompter.cancel() }
        try await session.awaiting("there is a prompter") { try await session.client.call(\.status).prompterConnected }
        try await session.press(keys: "alt+1")
        // Denied, sh starts it once more from the next directory of PATH, where it is the same file.
        let shell = try ChildProcess(
            "/bin/sh", ["-c", "PATH=/usr/bin:/bin; gnome-calculator; echo ended with $?"],
            environment: session.environment)
        try await session.awaitWords("1 launch waits for the passcode.")
        try await session.awaitWords("Started by sh. Denied in")
        try await session.photograph("waiting-launch")
        try await session.press("Deny Calculator")
        try await session.awaiting("the launch is refused") { shell.output == "ended with 126\n" }
        try await session.awaiting("no launch waits") { try await !session.isShown("Waiting launches") }
    }

    @Test(.requires(.program("gnome-calculator")), arguments: WindowScreenKind.usual)
    func aRunningAppIsLockedAndClosed(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+2")
        try await session.awaitWords("Other apps")
        // On a screen of its own: the window under test keeps the keyboard.
        let other = try await XServer()
        let calculator = try ChildProcess(
            "/usr/bin/gnome-calculator",
            environment: session.environment.merging(["DISPLAY": other.display, "GDK_BACKEND": "x11"]) { $1 })
        try await session.awaitWords("Running apps")
        try await session.openMenu("Actions for Calculator")
        try await session.photograph("running-app")
        try await session.press("Lock and Close")
        try await session.enterPasscode()
        try await session.awaitWords("Calculator is locked.")
        #expect(try await calculator.wait() == .signal(SIGTERM))
        #expect(try await session.client.call(\.listApps).apps.map(\.state) == [.locked])
    }

    @Test(.requires(.program("gnome-calculator")), arguments: WindowScreenKind.usual)
    func aScheduleIsMadeOfDaysAndTimes(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+2")
        try await session.press("Lock Calculator", role: "push button")
        try await session.enterPasscode()
        // The list has it, and the next Tab reaches it.
        try await session.awaiting("the list shows it") { try await session.isShown("Unlock Calculator") }
        try await session.press(keys: "ctrl+f", "Tab", "Return")
        try await session.awaitWords("Always locked")
        try await session.photograph("schedule-none")
        try await session.press(keys: "space", "Down", "Return")
        try await session.awaitWords("Add Times")
        for day in ["Tuesday", "Saturday"] { try await session.press(day) }
        try await session.fill("From", "26:00")
        try await session.press("Save Schedule")
        try await session.awaitWords("\"26:00\" is not a time of day")
        try await session.photograph("schedule-refused")
        #expect(try await session.client.call(\.listApps).apps.map(\.schedule) == [nil])
        try await session.fill("From", "22:00")
        try await session.fill("Until", "07:00")
        try await session.press("Save Schedule")
        // Also now that changes are allowed: a schedule may open the app.
        try await session.enterPasscode()
        try await session.awaiting("it is stored") {
            try await session.client.call(\.listApps).apps.map(\.schedule) == ["block mon,wed-sat 22:00-07:00"]
        }
        try await session.photograph("schedule")
    }

    @Test(arguments: WindowScreenKind.usual)
    func aSettingIsChangedAfterThePasscodeAndNotWithoutIt(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+0")
        try await session.press("Prompt for root, too")
        try await session.awaitWords("Change settings")
        try await session.press("Cancel")
        try await session.awaiting("it returns to what is set") {
            try await session.parts().contains { $0.name == "Prompt for root, too" && $0.isOn }
        }
        #expect(try await session.client.call(\.settings).holdsRoot)
        try await session.press("Prompt for root, too")
        try await session.enterPasscode()
        try await session.awaiting("it is changed") { try await !session.client.call(\.settings).holdsRoot }
        // The session is still open.
        try await session.press("Lock while the screen is recorded")
        try await session.awaiting("it is changed, too") { try await session.client.call(\.settings).locksOnCapture }
    }

    @Test(arguments: WindowScreenKind.both)
    func aNoteIsSavedByItselfAndLeavesTheWindowWithTheVault(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.openVault(on: "alt+4", shows: "No notes yet.")
        try await session.press(keys: "ctrl+n")
        try await session.awaitWords("Title")
        try await session.press(keys: "alt+Left")
        try await session.awaiting("the note is closed") { try await !session.isShown("Title") }
        try await session.press(keys: "ctrl+n")
        try await session.awaitWords("Title")
        try await session.type("Bank")
        try await session.press(keys: "Tab", "Tab")
        try await session.type("12-34-56")
        try await session.awaiting("it is saved") {
            let notes = try await session.client.call(\.listNotes).notes
            guard let note = notes.first else { return false }
            return try await session.client.call(\.readNote, parameter: note.id).body == "12-34-56"
        }
        try await session.awaitWords("Saved")
        try await session.photograph("notes")
        try await session.press(keys: "ctrl+f")
        try await session.type("12-34")
        try await session.client.call(\.closeVault)
        try await session.awaitWords("The vault is locked")
        let remains = try await session.parts().filter { part in
            ["12-34-56", "Bank"].contains { part.text.contains($0) || part.name.contains($0) }
        }
        #expect(remains.isEmpty)
        // Nor is what was searched shown again.
        try await session.press("Open the Vault")
        try await session.enterPasscode(verb: "Open")
        try await session.awaitWords("Bank")
        #expect(try await !session.parts().contains { $0.text == "12-34" })
    }

    @Test(arguments: WindowScreenKind.usual)
    func aNoteThatCannotBeSavedIsDiscardedOnlyOnRequest(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let window = try await session.startWindow()
        try await session.openVault(on: "alt+4", shows: "No notes yet.")
        try await session.press(keys: "ctrl+n")
        try await session.fill("Title", "Bank")
        // More than the daemon accepts.
        try await session.fill("Text", String(repeating: "twelve bytes", count: 90_000))
        try await session.awaitWords("Not saved")
        func text() async throws -> Int? {
            try await session.parts().first { $0.text.hasPrefix("twelve bytes") }?.text.count
        }
        try await session.press("Lock the vault")
        try await session.press(keys: "ctrl+n")
        #expect(try await text() == 1_080_000)
        try await session.press(keys: "alt+1", "ctrl+q")
        try await session.awaitWords("Discard changes?")
        try await session.photograph("discard")
        try await session.press("Keep Editing")
        try await session.awaiting("the note is shown") { try await text() == 1_080_000 }
        #expect(try await session.client.call(\.vault).isOpen)
        try await session.press(keys: "ctrl+q")
        try await session.press("Discard")
        #expect(try await window.wait() == .code(0))
    }

    @Test(arguments: WindowScreenKind.usual)
    func aFileIsLockedAndASavedCopyIsTheSame(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
        let original = try session.directory.write("", to: "letters/taxes.pdf")
        try Data(content).write(to: URL(fileURLWithPath: original))
        try await session.startWindow()
        try await session.openVault(on: "alt+5", shows: "No files")
        try await session.press("Lock Files…")
        try await session.chooseInFileChooser(original, accepting: "alt+l")
        try await session.awaitWords("Lock taxes.pdf?")
        try await session.photograph("files-question")
        try await session.press("Into the Vault")
        try await session.awaitWords("MiB · added")
        #expect(!FileManager.default.fileExists(atPath: original))
        try await session.photograph("files")
        // The folder, whose name the file had: nothing is overwritten there.
        try await session.openMenu("Actions for taxes.pdf")
        try await session.press("Save a Copy…")
        try await session.chooseInFileChooser(session.directory.path("letters"), accepting: "alt+s")
        try await session.awaitWords("Saved as")
        #expect(FileManager.default.contents(atPath: original).map(Array.init) == content)
        try await session.openMenu("Actions for taxes.pdf")
        try await session.press("Save a Copy…")
        try await session.chooseInFileChooser(session.directory.path("letters"), accepting: "alt+s")
        try await session.awaitWords("exists already")
        try await session.openMenu("Actions for taxes.pdf")
        try await session.press("Remove…")
        try await session.press("Remove")
        try await session.awaitWords("No files")
        #expect(try await session.client.call(\.listFiles).files.isEmpty)
    }

    @Test(arguments: WindowScreenKind.usual)
    func aBackupIsExportedAndImported(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
        let note = try await session.client.call(\.addNote, body: NoteRequest(title: "Bank", body: "12-34-56")).note
        try await session.startWindow()
        try await session.press(keys: "alt+9")
        try await session.press("Export…")
        let path = session.directory.path("monday.aplockerbackup")
        try await session.chooseInFileChooser(path, accepting: "alt+s")
        try await session.enterPasscode(verb: "Export")
        try await session.awaitWords("Exported 0 apps and 1 sealed item.")
        try await session.client.call(\.removeNote, parameter: note.id)
        func takeIn(_ verb: String, shows words: String) async throws {
            try await session.press("\(verb)…")
            try await session.chooseInFileChooser(path, accepting: "alt+o")
            try await session.enterPasscode()
            try await session.awaitWords(words)
            try await session.photograph(verb.lowercased())
            try await session.press(verb)
        }
        try await takeIn("Import", shows: "Notes, files and photos that are missing here: 1.")
        try await session.awaitWords("Imported.")
        #expect(try await session.client.call(\.listNotes).notes.map(\.title) == ["Bank"])

        _ = try await session.client.call(\.addNote, body: NoteRequest(title: "Later", body: ""))
        try await takeIn("Replace", shows: "Notes, files, moments and photos that are removed here: 1.")
        try await session.awaiting("the later note is gone") {
            try await session.client.call(\.listNotes).notes.map(\.title) == ["Bank"]
        }
    }

    @Test(arguments: WindowScreenKind.usual)
    func everythingIsErasedAndTheWindowStartsAgain(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(isSetUp: false, on: screen)
        try await session.startWindow()
        try await session.setUpByTheFirstRun()
        try await session.press(keys: "alt+9")
        try await session.press("Erase…")
        try await session.awaitWords("Only a backup restores them")
        try await session.photograph("erase")
        try await session.press("Cancel")
        #expect(try await session.client.call(\.status).isSetUp)
        try await session.press("Erase…")
        try await session.press("Erase Everything")
        try await session.enterPasscode("not the passcode", verb: "Erase")
        try await session.awaitWords("Wrong passcode")
        #expect(try await session.client.call(\.status).isSetUp)
        try await session.enterPasscode(verb: "Erase")
        try await session.awaitWords("Everything is erased.")
        try await session.awaitWords("Set up AppLocker")
        #expect(try await !session.client.call(\.status).isSetUp)
        try await session.setUpByTheFirstRun()
        #expect(try await session.client.call(\.status).isSetUp)
    }

    @Test(arguments: WindowScreenKind.usual)
    func aSecondStartShowsTheWindowOfTheFirst(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let first = try await session.startWindow()
        let second = try await ChildProcess.run(
            BuiltProducts.path("applocker-desktop"), environment: session.environment)
        #expect(second.exit == .code(0))
        #expect(first.isRunning)
        #expect(try await session.windows().count == 1)
        try await session.press(keys: "ctrl+q")
        #expect(try await first.wait() == .code(0))
    }

    @Test(.requires(.program("gdbus"))) func theDesktopActivatesItOverDBus() async throws {
        let session = try await WindowSession(service: true)
        try await session.x(
            "gdbus", "call", "--session", "--dest", "org.applocker.AppLocker", "--object-path",
            "/org/applocker/AppLocker", "--method", "org.freedesktop.Application.Activate", "{}")
        try await session.awaiting("its window is shown") { try await !session.xWindows().isEmpty }
    }

    @Test func aStoppedAppLockerIsShownAsNotProtected() async throws {
        let session = try await WindowSession(settings: ["APPLOCKER_SOCKET": "/nonexistent/control.sock"])
        try await session.startWindow()
        try await session.awaitWords("AppLocker is not running")
        try await session.awaitWords("/nonexistent/control.sock")
    }

    @Test func withoutADesktopItReportsThatInOneLine() async throws {
        let run = try await ChildProcess.run(
            BuiltProducts.path("applocker-desktop"), environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"])
        #expect(run.exit == .code(1))
        #expect(run.errorOutput.split(separator: "\n").last?.contains("there is no desktop session") == true)
    }
}

extension WindowSession {
    /// The first run, with a passcode and nothing else; ends on the overview.
    fileprivate func setUpByTheFirstRun() async throws {
        try await awaitWords("Choose a passcode")
        try await type(Self.passcode)
        try await press(keys: "Tab", "Tab")
        try await type(Self.passcode)
        try await awaitWords("Very strong.")
        try await press(keys: "Return")
        for words in ["Which apps are locked?", "When you are away", "Your phone", "If you forget the passcode"] {
            try await awaitWords(words)
            try await press(keys: "alt+s")
        }
        try await awaitWords("AppLocker is ready")
        try await press(keys: "alt+o")
        try await awaitWords("Overview")
    }
}
