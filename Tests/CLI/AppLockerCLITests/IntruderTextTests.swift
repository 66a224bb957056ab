import ControlAPI
import Testing

@testable import AppLockerCLI

@Suite("Intruder photos on the command line")
struct IntruderTextTests {
    private func report(_ id: String, time: Double = 0, app: String? = nil) -> IntruderReport {
        IntruderReport(id: id, time: time, app: app, user: nil, failures: 2, size: 25_000)
    }

    private var listed: ListedIntruders {
        ListedIntruders(
            IntruderList(intruders: [
                report("aabbccdd00112233", time: 1), report("aabbccdd00ff2233", time: 3), report("0123456789abcdef"),
            ]))
    }

    @Test("A photo is selected by a unique prefix of its id, or is the newest without one")
    func names() throws {
        #expect(try listed.one("0").id == "0123456789abcdef")
        #expect(try listed.one("AABBCCDD00F").id == "aabbccdd00ff2233")
        #expect(try listed.one(nil).id == "aabbccdd00ff2233")
        for (name, code) in [("aa", "ambiguous"), ("", "no_such_item"), ("99", "no_such_item")] {
            let error = #expect(throws: CommandLineError.self) { try listed.one(name) }
            #expect(error?.code == code)
            #expect(error?.status == .noSuchApp)
        }
        #expect(throws: CommandLineError.self) { try ListedIntruders(IntruderList(intruders: [])).one(nil) }
    }

    @Test("The ids that are shown distinguish the photos")
    func shownIDs() {
        #expect(shownIDLength(listed.reports.map(\.id)) == 11)
        #expect(shownIDLength(["aabbccdd00112233"]) == 8)
        #expect(shownIDLength(["ab"]) == 8)
        let lines = listed.lines(Paint(isColoured: false))
        #expect(lines.count == 4)
        #expect(lines[1].hasPrefix("aabbccdd001  ") && lines[1].hasSuffix("2      24 KiB"))
    }

    @Test("The caption has the time, the number of wrong passcodes and the app")
    func caption() {
        #expect(report("a", app: "firefox-esr").caption.hasSuffix(": 2 wrong passcodes for firefox-esr"))
        let one = IntruderReport(id: "a", time: 0, app: nil, user: 4_000_000_000, failures: 1, size: 0)
        #expect(one.caption.hasSuffix(": 1 wrong passcode, by user 4000000000"))
    }

    @Test("Without a desktop there is no window, and the error names the command for a file")
    func noDesktop() {
        for environment in [[:], ["DISPLAY": ""], ["HOME": "/"]] {
            let error = #expect(throws: CommandLineError.self) { try PhotoWindow.requireDesktop(environment) }
            #expect(error?.code == "no_desktop")
            #expect(error?.sentence.contains("applocker intruders export") == true)
        }
    }
}
