import AppCatalog
import Foundation
import Policy
import Testing

/// A user can write entries and programs of their own. They may add to a lock, and must not take anything away.
@Suite("What a user adds takes nothing from a lock")
struct UsersEntriesTests {
    private static let users = "/home/ann/.local/share/applications"
    private static let usersFlatpak = "/home/ann/.local/share/flatpak/exports/share/applications"

    @Test("An entry of the user does not make an app's directory shared", arguments: [users, usersFlatpak])
    func unpackaged(directory: String) throws {
        let tree = try FixtureTree()
        try tree.program("/opt/firefox/firefox", "/opt/firefox/firefox-bin")
        try tree.entry("firefox", "Exec=/opt/firefox/firefox")
        try tree.entry("zz", "Exec=/opt/firefox/firefox-bin", in: directory)
        let app = try tree.catalog().find("firefox")
        #expect(app.privateDirectories == ["/opt/firefox"])
        #expect(Set(app.paths) == ["/opt/firefox/firefox", "/opt/firefox/firefox-bin"])
    }

    @Test("As many entries of the user as are read hide none of the system's")
    func manyEntries() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/foo")
        try tree.entry("foo", "Exec=foo")
        for number in 0..<20_000 { try tree.write("", to: "\(Self.users)/a\(number).desktop") }
        #expect(try tree.catalog().executables(of: AppID(rawValue: "foo")!).executables.map(\.path) == ["/usr/bin/foo"])
    }

    @Test(
        "As many programs as a user's entry or namesake leads to leave out none of the system's",
        arguments: [true, false])
    func manyPrograms(byEntry: Bool) throws {
        let tree = try FixtureTree()
        try tree.program("/usr/lib/foo/foo", "/usr/lib/foo/helper")
        try tree.script("/usr/bin/foo", "#!/bin/sh\nexec /usr/lib/foo/foo\n")
        try tree.entry("foo", "Exec=foo")
        let fillers = (0..<4_100).map { "/opt/filler/p\($0)" }
        for filler in fillers { try tree.program(filler) }
        try tree.script(
            byEntry ? "/home/ann/fill" : "/home/ann/.local/bin/foo",
            "#!/bin/sh\n" + fillers.map { $0 + "\n" }.joined() + "exec /opt/filler/p0\n")
        if byEntry { try tree.entry("foo", "Exec=/home/ann/fill", in: Self.users) }
        let files = try tree.catalog().executables(of: AppID(rawValue: "foo")!)
        let paths = Set(files.executables.map(\.path))
        #expect(paths.isSuperset(of: ["/usr/bin/foo", "/usr/lib/foo/foo", "/usr/lib/foo/helper"]))
        #expect(paths.contains("/opt/filler/p0"))
        #expect(files.privateDirectories.contains("/usr/lib/foo"))
    }
}
