import AppCatalog
import Foundation
import Policy
import Testing

@Suite("Directories of desktop entries")
struct ApplicationDirectoriesTests {
    @Test("The user's come first, then Flatpak's, the system's and Snap's")
    func order() {
        let plain = ApplicationDirectories(CatalogEnvironment(home: "/home/ann"))
        #expect(
            plain.directories.map(\.path) == [
                "/home/ann/.local/share/applications", "/home/ann/.local/share/flatpak/exports/share/applications",
                "/var/lib/flatpak/exports/share/applications", "/usr/local/share/applications",
                "/usr/share/applications", "/var/lib/snapd/desktop/applications",
            ])
        let variables = [
            "XDG_DATA_HOME": "/data", "XDG_DATA_DIRS": "relative:/opt/share/:/var/lib/flatpak/exports/share:/usr/share",
        ]
        let set = ApplicationDirectories(CatalogEnvironment(home: "/home/ann", variables: variables))
        #expect(
            set.directories.map(\.path) == [
                "/data/applications", "/home/ann/.local/share/flatpak/exports/share/applications",
                "/opt/share/applications", "/var/lib/flatpak/exports/share/applications", "/usr/share/applications",
                "/var/lib/snapd/desktop/applications",
            ])
        #expect(set.directories[3].origin == .systemFlatpak)
    }

    @Test("An entry hides later ones with its id, a hidden one deletes them, a subdirectory is part of the id")
    func shadowing() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/foo", "/usr/bin/bar", "/usr/bin/baz")
        try tree.entry("foo", "Exec=foo\nX-From=system")
        try tree.entry("foo", "Exec=foo --mine\nName[de]=Meins", in: "/home/ann/.local/share/applications")
        try tree.entry("bar", "Exec=bar")
        try tree.write(
            "[Desktop Entry]\nHidden=true\n", to: "/home/ann/.local/share/applications/bar.desktop")
        try tree.entry("baz", "Exec=baz", in: "/usr/share/applications/kde4/deep")
        let listing = tree.catalog(["LANG": "de_DE.UTF-8"]).installed()
        #expect(listing.problems.isEmpty)
        // Sorted by name: the name of "kde4-deep-baz" is baz, that of foo is Meins.
        #expect(listing.apps.map(\.id.rawValue) == ["kde4-deep-baz", "foo"])
        #expect(listing.apps.first { $0.id.rawValue == "foo" }?.name == "Meins")
        #expect(
            listing.apps.first { $0.id.rawValue == "foo" }?.desktopFile
                == "/home/ann/.local/share/applications/foo.desktop")
        #expect(!listing.apps.contains { $0.id.rawValue == "bar" })
    }

    @Test("NoDisplay, a missing TryExec and other types are not listed; a missing program is reported")
    func notListed() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/foo")
        try tree.entry("invisible", "Exec=foo\nNoDisplay=true")
        try tree.entry("untried", "Exec=foo\nTryExec=not-there")
        try tree.entry("tried", "Exec=foo\nTryExec=foo")
        try tree.entry("gone", "Exec=/usr/bin/gone --x")
        try tree.write("[Desktop Entry]\nType=Link\nName=L\nURL=http://x\n", to: "/usr/share/applications/l.desktop")
        let listing = tree.catalog().installed()
        #expect(listing.apps.map(\.id.rawValue) == ["tried"])
        #expect(listing.problems.map(\.path) == ["/usr/share/applications/gone.desktop"])
        #expect(listing.problems.first?.error.code == .programNotFound)
        #expect(listing.problems.first?.error.sentence.contains("/usr/bin/gone") == true)
        // It is not listed, but can be found by its id.
        #expect(try tree.catalog().find("invisible").paths == ["/usr/bin/foo"])
    }

    @Test("Malformed, huge, looping, special and unreadable entries return one error each and hide nothing")
    func robust() throws {
        let tree = try FixtureTree()
        let directory = "/usr/share/applications"
        try tree.program("/usr/bin/foo")
        try tree.entry("good", "Exec=foo")
        try tree.write("[Desktop Entry]\nbroken\n", to: directory + "/syntax.desktop")
        try tree.write(
            "[Desktop Entry]\nComment=" + String(repeating: "a", count: 10 << 20), to: directory + "/huge.desktop")
        try tree.write("[Desktop Entry]\nName=a\u{0}b\n", to: directory + "/nul.desktop")
        try tree.link(directory + "/loop.desktop", to: "loop2.desktop")
        try tree.link(directory + "/loop2.desktop", to: "loop.desktop")
        try tree.link(directory + "/dangling.desktop", to: "/nowhere")
        try tree.link(directory + "/circle", to: ".")
        try tree.write("x", to: directory + "/folder.desktop/inside")
        #expect(mkfifo(tree.root + directory + "/fifo.desktop", 0o644) == 0)
        try tree.entry("a..b", "Exec=foo")
        try tree.entry("quote", "Exec=foo \"open")
        let listing = tree.catalog().installed()
        #expect(listing.apps.map(\.id.rawValue) == ["good"])
        let codes = Dictionary(
            listing.problems.map { (($0.path as NSString).lastPathComponent, $0.error.code) },
            uniquingKeysWith: { first, _ in first })
        #expect(codes.count == listing.problems.count)
        #expect(
            codes == [
                "syntax.desktop": .syntax, "huge.desktop": .tooLarge, "nul.desktop": .notText,
                "loop.desktop": .unreadable, "loop2.desktop": .unreadable, "dangling.desktop": .unreadable,
                "folder.desktop": .unreadable, "fifo.desktop": .unreadable, "a..b.desktop": .badName,
                "quote.desktop": .badCommand,
            ])
    }

    @Test("OnlyShowIn applies if the desktop is known")
    func onlyShowIn() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/foo")
        try tree.entry("kde", "Exec=foo\nOnlyShowIn=KDE;")
        #expect(tree.catalog(["XDG_CURRENT_DESKTOP": "GNOME"]).installed().apps.isEmpty)
        #expect(tree.catalog(["XDG_CURRENT_DESKTOP": "KDE"]).installed().apps.count == 1)
        #expect(tree.catalog().installed().apps.count == 1)
    }
}
