import AppCatalog
import Foundation
import Policy
import Testing

@Suite("Finding apps")
struct FindTests {
    private func tree() throws -> FixtureTree {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/foo", "/usr/bin/bar", "/opt/x-y/z")
        try tree.entry("org.x.Foo", "Exec=foo\nName=Foo Writer\nName[de]=Schreiber")
        try tree.entry("one", "Exec=bar\nName=Terminal")
        try tree.entry("two", "Exec=bar\nName=Terminal")
        return tree
    }

    private func error(_ reference: String, _ catalog: AppCatalog) -> CatalogError? {
        do {
            _ = try catalog.find(reference)
            return nil
        } catch {
            return error
        }
    }

    @Test("By id with or without .desktop, by name in any case")
    func found() throws {
        let tree = try tree()
        let catalog = tree.catalog()
        for reference in ["org.x.Foo", "org.x.Foo.desktop", "foo writer", "FOO WRITER", " Foo Writer "] {
            #expect(try catalog.find(reference).id.rawValue == "org.x.Foo")
        }
        #expect(try tree.catalog(["LANG": "de_AT.UTF-8"]).find("schreiber").id.rawValue == "org.x.Foo")
    }

    @Test("By path: the real file, with an id made from it that finds it again")
    func path() throws {
        let tree = try tree()
        try tree.link("/home/ann/link", to: "/opt/x-y/../x-y/z")
        let app = try tree.catalog().find("/home/ann/link")
        #expect(app.id.rawValue == "exec:opt-x-y-z")
        #expect(app.kind == .executable && app.name == "z" && app.paths == ["/opt/x-y/z"])
        #expect(try tree.catalog().find("exec:opt-x-y-z").paths == ["/opt/x-y/z"])
        #expect(try tree.catalog().executables(of: app.id).executables.map(\.path) == ["/opt/x-y/z"])
        #expect(try tree.catalog().find("/usr/bin/foo").sharedWith == ["Foo Writer"])
    }

    @Test("An id that matches two paths locks both")
    func twoPaths() throws {
        let tree = try tree()
        try tree.program("/opt/x/y/z")
        let id = try #require(AppID(rawValue: "exec:opt-x-y-z"))
        #expect(Set(try tree.catalog().executables(of: id).executables.map(\.path)) == ["/opt/x-y/z", "/opt/x/y/z"])
    }

    @Test("A name of several apps is an error that lists them")
    func ambiguous() throws {
        let tree = try tree()
        let found = error("terminal", tree.catalog())
        #expect(found?.code == .ambiguous)
        #expect(found?.candidates.map(\.rawValue) == ["one", "two"])
        #expect(found?.sentence.contains("one, two") == true)
    }

    @Test("A missing app is an error that names similar ones")
    func notFound() throws {
        let tree = try tree()
        let catalog = tree.catalog()
        #expect(error("writer", catalog)?.candidates.map(\.rawValue) == ["org.x.Foo"])
        #expect(error("nothing", catalog)?.code == .notFound)
        #expect(error("/usr/bin/nothing", catalog)?.code == .notFound)
        #expect(error("exec:usr-bin-nothing", catalog)?.code == .notFound)
        #expect(error("/usr/bin", catalog)?.code == .notAProgram)
    }

    @Test(
        "References that can't be an app are refused in one sentence without control characters",
        arguments: [
            "", "   ", "../../etc/passwd", "..", ".hidden", "a/b", "a\u{0}b", "a\u{1B}[31m", "exec:../../etc/passwd",
            "exec:-", "exec:", String(repeating: "x", count: 300), "/a\u{0}b",
        ])
    func refused(reference: String) throws {
        let tree = try tree()
        let found = error(reference, tree.catalog())
        #expect(found != nil)
        #expect(
            found.map { $0.sentence.count < 300 && !$0.sentence.contains { $0.isNewline || $0 == "\u{1B}" } } == true)
    }

    @Test("A file that is not a program is refused, a script without the executable bit is not")
    func notAProgram() throws {
        let tree = try tree()
        try tree.write("text", to: "/home/ann/letter.txt")
        try tree.write("#!/usr/bin/python3\n", to: "/home/ann/tool")
        #expect(error("/home/ann/letter.txt", tree.catalog())?.code == .notAProgram)
        #expect(try tree.catalog().find("/home/ann/tool").paths == ["/home/ann/tool"])
    }
}
