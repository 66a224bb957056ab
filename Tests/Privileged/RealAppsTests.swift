import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// Real apps of the distribution on a real X desktop, with the whole of AppLocker.
@Suite(
    .serialized,
    .requires(
        .root, .fanotify, .display, .program("openbox"), .program("dbus-daemon"), .program("xdotool"),
        .program("import"), .program("gio")))
struct RealAppsTests {
    struct App: Sendable, CustomTestStringConvertible {
        var id: String
        var name: String
        /// Of its windows.
        var windowClass: String
        /// The program that finally runs.
        var program: String
        fileprivate var browser: Browser?
        var testDescription: String { id }
    }

    static let calculator = App(
        id: "org.gnome.Calculator", name: "Calculator", windowClass: "gnome-calculator",
        program: "/usr/bin/gnome-calculator")
    static let chromium = App(
        id: "chromium", name: "Chromium Web Browser", windowClass: "[Cc]hromium",
        program: "/usr/lib/chromium/chromium",
        browser: Browser(program: "/usr/lib/chromium", marker: "--type=renderer"))

    @Test(
        .requires(.program("gnome-calculator"), .program("chromium"), .userNamespaces),
        arguments: [calculator, chromium])
    func anAppStartedByItsEntryCausesAPromptAppearsAndCausesAPromptAgain(app: App) async throws {
        let applocker = try await RunningAppLocker(promptTimeoutSeconds: 300)
        let report = try await applocker.add(app.id)
        #expect(report.id == app.id && report.state == .locked)
        let session = try await DesktopSession(of: applocker, files: Browser.pages)

        let launch = try session.startEntry(app.id)
        try await session.awaitPrompt(app.name)
        let asked = try await session.photograph("\(app.id)-asked")
        #expect(asked.distinctColours > 200)
        #expect(ProcessRecord.running(app.program).isEmpty)
        #expect(try await session.windows("--class", app.windowClass).isEmpty)

        try await session.answer("wrong " + RunningAppLocker.passcode)
        await eventually("the wrong passcode is counted") {
            try await applocker.events(kind: "passcode_wrong").count == 1
        }
        await eventually(every: .milliseconds(200), "the prompt shows the refusal") {
            try await session.photograph("\(app.id)-refused").alarmed > asked.alarmed + 300
        }
        #expect(try await session.isPromptVisible())
        #expect(ProcessRecord.running(app.program).isEmpty)

        try await session.answer(RunningAppLocker.passcode)
        let window = try await session.awaitWindow("--class", app.windowClass)
        await session.awaitNoPrompt()
        // The process that was held continues.
        let held = try #require(try await applocker.events(of: app.id, kind: "launch_asked").first?.process)
        #expect(try await session.processOfWindow(window) == held)
        #expect(try await launch.wait() == .code(0))
        await eventually(every: .milliseconds(300), "its window is painted") {
            try await session.photograph("\(app.id)-open").distinctColours > 100
        }

        try await applocker.lock(app.id)
        try await app.browser?.expectNewTabs(in: session)
        let again = try session.startEntry(app.id)
        try await session.awaitPrompt(app.name)
        // Recorded after its prompt has appeared.
        var newest: pid_t?
        await eventually("its second launch is recorded") {
            newest = try await applocker.events(of: app.id, kind: "launch_asked").last?.process
            return newest != nil && newest != held
        }
        let heldAgain = try #require(newest)
        #expect(!ProcessRecord.running(app.program).contains { $0.pid == heldAgain })
        try await session.press("Escape")
        await session.awaitNoPrompt()
        _ = try await again.wait()
        await eventually("its end is recorded") {
            try await applocker.events(of: app.id, kind: "launch_denied").last?.reason == "cancelled"
        }
        #expect(!ProcessRecord.running(app.program).contains { $0.pid == heldAgain })
        try await applocker.stop()
    }

    /// Without its fork server, which Firefox doesn't need, each content process begins with an execve.
    @Test(.requires(.program("firefox-esr")), arguments: [GrantRequest.Kind.duration, .thisLaunch])
    func aRunningFirefoxOpensTabsAfterItsGrantEndedAndASecondStartIsHeld(grant: GrantRequest.Kind) async throws {
        let applocker = try await RunningAppLocker(promptTimeoutSeconds: 300)
        try await applocker.add("firefox-esr")
        let session = try await DesktopSession(of: applocker, files: Browser.pages)
        let firefox = try Browser.startFirefox(in: session)
        try await session.awaitPrompt("Firefox ESR")
        if grant == .thisLaunch {
            // The list of durations, opened and closed with the keyboard.
            try await session.press("Tab", "space", "Down", "Down", "Down", "Down", "Return", "shift+Tab")
            _ = try await session.photograph("firefox-esr-this-launch")
        }
        try await session.answer(RunningAppLocker.passcode)
        _ = try await session.awaitWindow("--name", "^First page")
        #expect(try await applocker.events(kind: "unlocked").count == (grant == .thisLaunch ? 0 : 1))

        try await applocker.lock("firefox-esr")
        let browser = Browser(program: "/usr/lib/firefox-esr", marker: "-contentproc")
        try await browser.expectNewTabs(in: session)
        #expect(firefox.isRunning)
        _ = try await session.photograph("firefox-esr-tabs")

        mkdir(session.home.path("other"), 0o777)
        chmod(session.home.path("other"), 0o777)
        let second = try session.start("firefox-esr", ["--no-remote", "--profile", session.home.path("other")])
        try await session.awaitPrompt("Firefox ESR")
        _ = try await session.photograph("firefox-esr-second")
        try await session.press("Escape")
        #expect(try await second.wait() == .notStarted(errno: EPERM))
        #expect(firefox.isRunning)
        try await applocker.stop()
    }

    @Test(.requires(.program("firefox-esr")))
    func aRunningFirefoxIsFrozenOrClosedWhenItsGrantEnds() async throws {
        let applocker = try await RunningAppLocker(promptTimeoutSeconds: 300)
        try await applocker.add("firefox-esr", onGrantEnd: "freeze")
        let session = try await DesktopSession(of: applocker, files: Browser.pages)
        let firefox = try Browser.startFirefox(in: session)
        try await session.awaitPrompt("Firefox ESR")
        try await session.answer(RunningAppLocker.passcode)
        _ = try await session.awaitWindow("--name", "^First page")
        let program = "/usr/lib/firefox-esr"
        func states() -> Set<Character> { Set(ProcessRecord.running(program).map(\.state)).subtracting(["Z"]) }
        await eventually("it runs") { ProcessRecord.running(program).count > 3 && !states().contains("T") }

        try await applocker.lock("firefox-esr")
        await eventually("all of it is stopped") { states() == ["T"] }
        // Its user can't continue it.
        for process in ProcessRecord.running(program) { kill(process.pid, SIGCONT) }
        await eventually("it is stopped again") { states() == ["T"] }

        try await applocker.unlock("firefox-esr")
        await eventually("it continues") { !states().contains("T") && firefox.isRunning }
        try await Browser(program: program, marker: "-contentproc").expectNewTabs(in: session)

        try await applocker.set("firefox-esr", onGrantEnd: "close")
        try await applocker.lock("firefox-esr")
        // It is asked to end, and killed 10 seconds later.
        await eventually("it is closed") { ProcessRecord.running(program).isEmpty }
        try await applocker.stop()
    }
}

/// A browser that has the first of the test's pages open.
private struct Browser: Sendable {
    /// The directory of its programs.
    var program: String
    /// An argument of the processes that show pages.
    var marker: String

    static let pages: [String: String] = {
        let names = ["first", "second", "third"]
        var files = Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name + ".html", "<!doctype html><title>\(name.capitalized) page</title><h1>\(name)</h1>")
            })
        files["profile/user.js"] = [
            ("dom.ipc.forkserver.enable", "false"), ("datareporting.policy.dataSubmissionEnabled", "false"),
            ("browser.aboutwelcome.enabled", "false"), ("browser.preonboarding.enabled", "false"),
            ("browser.shell.checkDefaultBrowser", "false"), ("termsofuse.bypassNotification", "true"),
            ("app.normandy.enabled", "false"), ("browser.sessionstore.resume_from_crash", "false"),
        ].map { "user_pref(\"\($0.0)\", \($0.1));\n" }.joined()
        return files
    }()

    static func startFirefox(in session: DesktopSession) throws -> ChildProcess {
        try session.start(
            "firefox-esr",
            ["--profile", session.home.path("profile"), "file://" + session.home.path("first.html")])
    }

    private var contentProcesses: Set<pid_t> {
        // Processes that Chromium's zygote forked show their arguments as one.
        let showing = ProcessRecord.running(program).filter { process in
            process.arguments.contains { $0.contains(marker) }
        }
        return Set(showing.map(\.pid))
    }

    /// Opens pages in new tabs with the keyboard; they are shown, by new processes.
    func expectNewTabs(in session: DesktopSession) async throws {
        let before = contentProcesses
        for page in ["second", "third"] {
            try await session.press("ctrl+t")
            // Nothing shows from outside that the new tab is there and its address bar has the keyboard: keys that
            // arrive before go to the page.
            await eventually(every: .seconds(5), "the \(page) page is shown") {
                if try await !session.windows("--name", "^\(page.capitalized) page").isEmpty { return true }
                try await session.press("Escape")
                try await session.press("ctrl+l")
                try await Task.sleep(for: .milliseconds(500))
                try await session.type("file://" + session.home.path(page + ".html"))
                try await session.press("Return")
                return false
            }
        }
        await eventually("a new process shows pages") { !contentProcesses.subtracting(before).isEmpty }
        #expect(try await !session.isPromptVisible())
    }
}
