import Testing

@testable import LaunchGate

@Suite struct PathTests {
    private func bytes(_ text: String) -> PathBytes { Array(text.utf8) }

    @Test func `a path has its directories up to the root`() {
        #expect(bytes("/opt/app/bin").ancestors.map(\.text) == ["/opt/app", "/opt", "/"])
        #expect(bytes("/x").ancestors.map(\.text) == ["/"])
        #expect(bytes("/").ancestors.isEmpty)
    }

    @Test func `only paths inside a directory are below it`() {
        #expect(bytes("/opt/app/x").isBelow(bytes("/opt/app")))
        #expect(!bytes("/opt/application").isBelow(bytes("/opt/app")))
        #expect(!bytes("/opt/app").isBelow(bytes("/opt/app")))
        #expect(bytes("/x").isBelow(bytes("/")))
    }

    @Test func `names are appended with one slash and any bytes`() {
        #expect(bytes("/").appending(bytes("x")) == bytes("/x"))
        #expect(bytes("/a").appending([0xff, 0x20]) == bytes("/a/") + [0xff, 0x20])
        #expect(bytes("/a/b").directoryAndName?.name == bytes("b"))
        #expect(bytes("/").directoryAndName == nil)
    }
}
