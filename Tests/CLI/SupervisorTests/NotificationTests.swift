import Testing

@testable import Supervisor

@Suite("Notification text")
struct NotificationTests {
    private func parse(_ text: String) -> Notification? { Notification(Array(text.utf8)) }

    @Test func parsesWhatTheGateSends() throws {
        let stores = try #require(parse("FDSTORE=1\nFDNAME=fanotify\nFDPOLL=0"))
        #expect(stores.storesDescriptors && stores.descriptorName == "fanotify")
        #expect(!stores.isBarrier && !stores.isReady && !stores.isAlive)
        let ready = try #require(parse("READY=1\nSTATUS=2 apps = 7 files\n"))
        #expect(ready.isReady && ready.status == "2 apps = 7 files")
        #expect(try #require(parse("WATCHDOG=1")).isAlive)
        #expect(try #require(parse("BARRIER=1")).isBarrier)
    }

    @Test func ignoresUnknownKeys() {
        #expect(parse("MAINPID=1\nnonsense\n=\nX_Y=1") == parse(""))
    }

    @Test func onlyTheValueOneIsTrue() {
        #expect(parse("READY=0\nFDSTORE=yes\nBARRIER=\nWATCHDOG=11") == parse(""))
    }

    @Test(arguments: ["", "a:b", "a b", "ä", String(repeating: "x", count: 256), "tab\t"])
    func refusesInvalidDescriptorNames(name: String) {
        #expect(parse("FDSTORE=1\nFDNAME=\(name)") == nil)
    }

    @Test func refusesBytesThatAreNotUTF8() {
        #expect(Notification([0xff, 0xfe, 0x3d]) == nil)
    }
}
