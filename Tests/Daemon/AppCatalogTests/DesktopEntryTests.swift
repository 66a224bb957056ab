import TestSupport
import Testing

@testable import AppCatalog

@Suite("Desktop entries")
struct DesktopEntryTests {
    private func parse(_ text: String, locale: String = "C") throws -> DesktopEntry {
        try DesktopEntry.parse(Array(text.utf8), locale: locale)
    }

    private func arguments(_ exec: String, icon: String? = nil, name: String = "App") throws -> [String] {
        var entry = DesktopEntry()
        entry.exec = exec
        entry.icon = icon
        entry.name = name
        return try entry.arguments(location: "/a/b.desktop")
    }

    private func error(_ text: String) -> DesktopEntryError? {
        do {
            _ = try parse(text)
            return nil
        } catch let error as DesktopEntryError {
            return error
        } catch {
            return nil
        }
    }

    @Test("The specification's example is parsed without its actions")
    func specificationExample() throws {
        let entry = try parse(
            """
            # A comment

            [Desktop Entry]
            Version=1.0
            Type=Application
            Name=Foo Viewer
            Comment=The best viewer for Foo objects available!
            TryExec=fooview
            Exec=fooview %F
            Icon=fooview
            MimeType=image/x-foo;
            Actions=Gallery;Create;

            [Desktop Action Gallery]
            Exec=fooview --gallery
            Name=Browse Gallery
            Icon=other
            NoDisplay=nonsense
            """)
        #expect(entry.type == "Application")
        #expect(entry.name == "Foo Viewer")
        #expect(entry.tryExec == "fooview")
        #expect(entry.exec == "fooview %F")
        #expect(entry.icon == "fooview")
        #expect(!entry.noDisplay && !entry.hidden && !entry.isDBusActivatable)
        #expect(try entry.arguments(location: nil) == ["fooview"])
    }

    @Test(
        "A localised name is matched in the specification's order",
        arguments: [
            ("sr_YU@Latn", "country and modifier"), ("sr_YU", "country"), ("sr@Latn", "modifier"), ("sr", "language"),
            ("sr_YU.UTF-8@Latn", "country and modifier"), ("sr_RS@Latn", "modifier"), ("sr_RS", "language"),
            ("de", "plain"), ("C", "plain"), ("", "plain"), ("C.UTF-8", "plain"), ("POSIX", "plain"),
        ])
    func localised(locale: String, expected: String) throws {
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
            let keys = [
                "Name=plain", "Name[sr]=language", "Name[sr@Latn]=modifier", "Name[sr_YU]=country",
                "Name[sr_YU@Latn]=country and modifier",
            ]
            let text = "[Desktop Entry]\nType=Application\nExec=x\n" + order.map { keys[$0] }.joined(separator: "\n")
            let entry = try parse(text, locale: locale)
            #expect(entry.name == expected)
            #expect(entry.unlocalisedName == "plain")
        }
    }

    @Test("String escapes, lists and blanks around the equals sign")
    func escapes() throws {
        let entry = try parse(
            """
            [Desktop Entry]\r
            Type = Application \r
            Name=\\sA\\tB\\nC\\rD\\\\E\\q
            Exec=x
            OnlyShowIn=GNOME;A\\;B;KDE
            NotShowIn=XFCE;
            """)
        #expect(entry.type == "Application")
        #expect(entry.name == " A\tB\nC\rD\\E\\q")
        #expect(entry.onlyShowIn == ["GNOME", "A;B", "KDE"])
        #expect(entry.notShowIn == ["XFCE"])
    }

    @Test("OnlyShowIn and NotShowIn decide for the first desktop that either names")
    func shownIn() throws {
        let only = try parse("[Desktop Entry]\nType=Application\nName=A\nExec=x\nOnlyShowIn=GNOME;\n")
        #expect(only.isShown(in: ["ubuntu", "GNOME"]) && only.isShown(in: []) && !only.isShown(in: ["KDE"]))
        let not = try parse("[Desktop Entry]\nType=Application\nName=A\nExec=x\nNotShowIn=KDE;\n")
        #expect(not.isShown(in: ["GNOME"]) && !not.isShown(in: ["KDE"]))
    }

    @Test(
        "Exec is split by its quoting rules",
        arguments: [
            ("foo", ["foo"]), ("foo  bar\tbaz", ["foo", "bar", "baz"]),
            (#""/opt/My App/run \"it\" now" --x"#, [#"/opt/My App/run "it" now"#, "--x"]),
            (#"foo "a \$HOME \`date\` \\ b""#, ["foo", #"a $HOME `date` \ b"#]),
            (#"foo "" bar"#, ["foo", "", "bar"]), (#"foo --a="b c" 'd e'"#, ["foo", "--a=b c", "d e"]),
            (#"foo a\ b"#, ["foo", "a b"]), (#"foo "a\nb""#, ["foo", #"a\nb"#]),
        ])
    func quoting(exec: String, expected: [String]) throws {
        #expect(try arguments(exec) == expected)
    }

    @Test(
        "Field codes of files and deprecated ones are removed, others are replaced",
        arguments: [
            ("foo %f %F %u %U --end", ["foo", "--end"]), ("foo %d %D %n %N %v %m", ["foo"]),
            ("foo 100%% %c %k", ["foo", "100%", "The App", "/a/b.desktop"]), ("foo %i", ["foo", "--icon", "icon"]),
            ("foo --file=%f", ["foo", "--file="]), (#"foo "%u""#, ["foo"]),
        ])
    func fieldCodes(exec: String, expected: [String]) throws {
        #expect(try arguments(exec, icon: "icon", name: "The App") == expected)
        #expect(try arguments("foo %i") == ["foo"])
    }

    @Test(
        "A malformed command is refused with a sentence",
        arguments: [#"foo "bar"#, "foo 'bar", "foo %", "foo %z", "%f", "   ", #""""#])
    func badCommand(exec: String) throws {
        let thrown = #expect(throws: DesktopEntryError.self) { try arguments(exec) }
        #expect(thrown?.code == .badCommand)
        #expect(thrown?.sentence.hasPrefix("Exec ") == true && thrown?.sentence.hasSuffix(".") == true)
    }

    @Test("Each kind of malformed entry returns one sentence, with its line if there is one")
    func malformed() {
        let head = "[Desktop Entry]\nType=Application\nName=A\nExec=x\n"
        let cases: [(String, DesktopEntryError.Code, Int?)] = [
            ("", .syntax, nil), ("# only a comment\n", .syntax, nil), ("Name=A\n[Desktop Entry]\n", .syntax, 1),
            ("[Other]\nName=A\n", .syntax, 1), ("[Desktop Entry\nName=A\n", .syntax, 1), ("[]\n", .syntax, 1),
            ("[a[b]\n", .syntax, 1), (head + "no equals sign\n", .syntax, 5), (head + "=value\n", .syntax, 5),
            (head + "Name[de=x\n", .syntax, 5), (head + "Hidden=perhaps\n", .badValue, 5),
            (head + "NoDisplay=\n", .badValue, 5), ("[Desktop Entry]\nName=A\nExec=x\n", .missingKey, nil),
            ("[Desktop Entry]\nType=Application\nExec=x\n", .missingKey, nil),
            ("[Desktop Entry]\nType=Application\nName=A\n", .missingKey, nil),
            ("[Desktop Entry]\nType=Application\nName=\nExec=x\n", .missingKey, nil),
            (head + "Comment=a\u{0}b\n", .notText, nil),
        ]
        for (text, code, line) in cases {
            let found = error(text)
            #expect(found?.code == code, "\(text)")
            #expect(found?.line == line, "\(text)")
            #expect(found?.sentence.hasSuffix(".") == true)
        }
        #expect(error(head) == nil)
    }

    @Test("An entry with an empty localised name has the plain one, and still requires Exec")
    func emptyLocalisedName() throws {
        let head = "[Desktop Entry]\nType=Application\nName=Plain\nName[de]=\n"
        #expect(try parse(head + "Exec=x\n", locale: "de").name == "Plain")
        for rest in ["", "Exec=\n"] {
            let thrown = #expect(throws: DesktopEntryError.self) { try parse(head + rest, locale: "de") }
            #expect(thrown?.code == .missingKey)
        }
        #expect(try parse(head + "DBusActivatable=true\n", locale: "de").name == "Plain")
    }

    @Test("Bytes that are not text and files over a mebibyte are refused")
    func notText() {
        let head = Array("[Desktop Entry]\nType=Application\nName=A\nExec=x\nComment=".utf8)
        func code(_ bytes: [UInt8]) -> DesktopEntryError.Code? {
            do {
                _ = try DesktopEntry.parse(bytes)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(head + [0xFF, 0xFE]) == .notText)
        #expect(code(head + [0xC3]) == .notText)
        #expect(code(head + [UInt8](repeating: 0x61, count: 10 << 20)) == .tooLarge)
        #expect(code(head + [UInt8](repeating: 0x61, count: DesktopEntry.sizeLimit - head.count)) == nil)
    }

    @Test("Ten thousand random entries neither crash the parser nor return an empty sentence")
    func randomBytes() {
        var generator = RepeatableRandom()
        let pieces = [
            "[Desktop Entry]\n", "Type=Application\n", "Name=A\n", "Exec=", "\"", "\\", "%", "'", "\n", "=", "[", "]",
            "Name[de]=", ";", "\u{0}", "é", "\u{FFFF}", "Hidden=true\n", "foo ", "#", "\r",
        ]
        for _ in 0..<10_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<24, using: &generator) {
                if Int.random(in: 0..<8, using: &generator) == 0 {
                    bytes.append(UInt8.random(in: 0...255, using: &generator))
                } else {
                    bytes += Array(pieces.randomElement(using: &generator)!.utf8)
                }
            }
            do {
                let entry = try DesktopEntry.parse(bytes, locale: "de_DE@euro")
                do { #expect(try !entry.arguments(location: nil).isEmpty) } catch { #expect(!error.sentence.isEmpty) }
            } catch {
                #expect(!error.sentence.isEmpty)
            }
        }
    }
}
