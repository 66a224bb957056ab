import AppCatalog
import Foundation
import Policy
import Testing

@Suite("From an entry to every file of the app")
struct AppFilesTests {
    @Test("A wrapper, what it execs, its package's own directory, and not the tools it uses")
    func packaged() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/lib/foo/foo", "/usr/lib/foo/crash", "/usr/bin/gdb", "/usr/lib/foo/plugins/deep/tool")
        try tree.write("\u{7F}ELF", to: "/usr/lib/foo/libfoo.so.1", executable: true)
        try tree.write("picture", to: "/usr/lib/foo/logo.png", executable: true)
        try tree.script(
            "/usr/bin/foo",
            "#!/bin/sh\nGDB=/usr/bin/gdb\nL=/usr/lib/foo\nif x; then $GDB $L/foo; fi\nexec $L/foo \"$@\"\n")
        try tree.script("/usr/bin/foo-settings", "#!/bin/sh\nexec /usr/lib/foo/foo --settings\n")
        try tree.script("/usr/bin/unrelated", "#!/bin/sh\necho hello\n")
        try tree.entry("foo", "Exec=foo %U")
        try tree.package(
            "foo",
            ["/usr/bin/foo", "/usr/bin/foo-settings", "/usr/bin/unrelated", "/usr/lib/foo/foo", "/usr/lib/foo/crash"])
        try tree.package("gdb", ["/usr/bin/gdb"])
        let app = try tree.catalog().find("foo")
        #expect(app.kind == .desktop && app.lockRefusal == nil)
        #expect(app.role(of: "/usr/bin/foo") == .launcher)
        #expect(app.executables.first?.path == "/usr/bin/foo")
        #expect(app.role(of: "/usr/lib/foo/foo") == .program)
        #expect(
            Set(app.paths) == [
                "/usr/bin/foo", "/usr/lib/foo/foo", "/usr/lib/foo/crash", "/usr/lib/foo/plugins/deep/tool",
                "/usr/bin/foo-settings",
            ])
        #expect(app.privateDirectories == ["/usr/lib/foo", "/usr/lib/foo/plugins/deep"])
    }

    @Test("A directory where another package has programs is not private; one of the same source is")
    func shared() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/lib/suite/bin/one", "/usr/lib/suite/bin/two", "/usr/lib/kit/a", "/usr/lib/kit/b")
        try tree.entry("one", "Exec=/usr/lib/suite/bin/one")
        try tree.entry("two", "Exec=/usr/lib/suite/bin/two")
        try tree.entry("a", "Exec=/usr/lib/kit/a")
        try tree.entry("b", "Exec=/usr/lib/kit/b")
        try tree.package("suite-one", source: "suite", ["/usr/lib/suite/bin/one"])
        try tree.package("suite-two", source: "suite", ["/usr/lib/suite/bin/two"])
        try tree.package("kit-a", source: "kit-a", ["/usr/lib/kit/a"])
        try tree.package("kit-b", source: "kit-b", ["/usr/lib/kit/b"])
        let catalog = tree.catalog()
        let one = try catalog.find("one")
        #expect(one.paths == ["/usr/lib/suite/bin/one", "/usr/lib/suite/bin/two"])
        #expect(one.privateDirectories == ["/usr/lib/suite/bin"])
        #expect(one.sharedWith == ["two"])
        let a = try catalog.find("a")
        #expect(a.paths == ["/usr/lib/kit/a"])
        #expect(a.privateDirectories.isEmpty && a.sharedWith.isEmpty)
    }

    @Test("In a vendor's directory without a package each app has its own part")
    func vendor() throws {
        let tree = try FixtureTree()
        try tree.program("/opt/vendor/idea/bin/idea", "/opt/vendor/idea/bin/fsnotifier", "/opt/vendor/clion/bin/clion")
        try tree.entry("idea", "Exec=/opt/vendor/idea/bin/idea")
        try tree.entry("clion", "Exec=/opt/vendor/clion/bin/clion")
        let idea = try tree.catalog().find("idea")
        #expect(Set(idea.paths) == ["/opt/vendor/idea/bin/idea", "/opt/vendor/idea/bin/fsnotifier"])
        #expect(idea.privateDirectories == ["/opt/vendor/idea/bin"])
        #expect(idea.sharedWith.isEmpty)
    }

    @Test("A directory that programs share or a home directory is never marked")
    func neverShared() throws {
        let tree = try FixtureTree()
        for path in [
            "/usr/bin/p", "/usr/games/p", "/usr/libexec/p", "/usr/local/bin/p", "/usr/lib/p", "/opt/p", "/home/ann/p",
            "/home/ann/apps/x/p", "/usr/lib/python3/p", "/usr/lib/x86_64-linux-gnu/p", "/srv/p", "/p",
        ] {
            try tree.program(path)
            let app = try tree.catalog().find(path)
            #expect(app.privateDirectories.isEmpty, "\(path)")
            #expect(app.paths == [path])
        }
    }

    @Test("A name with spaces and quotes in Exec")
    func spaces() throws {
        let tree = try FixtureTree()
        try tree.program("/opt/My \"Best\" App/bin/run it", "/opt/My \"Best\" App/bin/helper")
        try tree.entry("best", #"Exec=env A=b "/opt/My \\"Best\\" App/bin/run it" --open %f"#)
        let app = try tree.catalog().find("best")
        #expect(Set(app.paths) == ["/opt/My \"Best\" App/bin/run it", "/opt/My \"Best\" App/bin/helper"])
        #expect(app.privateDirectories == ["/opt/My \"Best\" App/bin"])
    }

    @Test("Programs named from the directory that a script or an entry changes to")
    func directories() throws {
        let tree = try FixtureTree()
        try tree.program("/opt/one/bin/run", "/opt/two/bin/run", "/opt/three/run")
        try tree.write("print()\n", to: "/opt/four/main.py")
        try tree.script("/usr/bin/two", "#!/bin/sh\ncd /opt/two || exit 1\n./bin/run \"$@\"\n")
        try tree.script("/usr/bin/four", "#!/bin/sh\ncd /opt/four\nexec python3 main.py \"$@\"\n")
        try tree.entry("one", "Exec=sh -c \"cd /opt/one && ./bin/run\"")
        try tree.entry("two", "Exec=two")
        try tree.entry("three", "Exec=./run\nPath=/opt/three")
        try tree.entry("four", "Exec=four")
        let catalog = tree.catalog()
        #expect(try catalog.find("one").paths == ["/opt/one/bin/run"])
        #expect(try catalog.find("two").paths == ["/usr/bin/two", "/opt/two/bin/run"])
        #expect(try catalog.find("three").paths == ["/opt/three/run"])
        #expect(try catalog.find("four").paths == ["/usr/bin/four", "/opt/four/main.py"])
    }

    @Test("A program that a script starts by the loader, without being executable itself")
    func loader() throws {
        let tree = try FixtureTree()
        try tree.program("/opt/x/lib/ld-linux-x86-64.so.2", "/usr/lib/ld-linux-x86-64.so.2")
        try tree.link("/lib64/ld-linux-x86-64.so.2", to: "/usr/lib/ld-linux-x86-64.so.2")
        try tree.write("\u{7f}ELF", to: "/opt/x/real")
        try tree.write("\u{7f}ELF", to: "/usr/lib/y/real")
        try tree.script(
            "/opt/x/start",
            "#!/bin/sh\nexec /opt/x/lib/ld-linux-x86-64.so.2 --library-path /opt/x/lib /opt/x/real \"$@\"\n"
        )
        try tree.script("/usr/bin/y", "#!/bin/sh\nexec /lib64/ld-linux-x86-64.so.2 /usr/lib/y/real \"$@\"\n")
        try tree.entry("x", "Exec=/opt/x/start")
        try tree.entry("y", "Exec=y")
        let catalog = tree.catalog()
        #expect(try catalog.find("x").paths.contains("/opt/x/real"))
        #expect(try catalog.find("y").paths == ["/usr/bin/y", "/usr/lib/y/real"])
    }

    @Test("A Python app is its script and its own modules, never the interpreter")
    func python() throws {
        let tree = try FixtureTree()
        let modules = "/usr/lib/python3/dist-packages"
        try tree.program("/usr/bin/python3.11")
        try tree.link("/usr/bin/python3", to: "python3.11")
        try tree.script(
            "/usr/bin/notes",
            "#!/usr/bin/python3\nimport os, sys\nimport requests\nfrom notes.gui import main\nHELPER = '/usr/share/notes/sync.py'\nmain()\n"
        )
        let owned = [
            modules + "/notes/__init__.py", modules + "/notes/gui.py", modules + "/notes/other.py",
            "/usr/share/notes/sync.py", "/usr/share/notes/__main__.py",
        ]
        for path in owned { try tree.write("pass\n", to: path) }
        try tree.write("pyc", to: modules + "/notes/__pycache__/__init__.cpython-311.pyc")
        try tree.write("pass\n", to: modules + "/requests/__init__.py")
        try tree.package("notes", owned + ["/usr/bin/notes"])
        try tree.package("python3-requests", [modules + "/requests/__init__.py"])
        try tree.entry("notes", "Exec=/usr/bin/notes")
        try tree.entry("main", "Exec=python3 /opt/foo/main.py %U")
        try tree.write("print()\n", to: "/opt/foo/main.py")
        let notes = try tree.catalog().find("notes")
        #expect(notes.executables.first?.path == "/usr/bin/notes")
        #expect(notes.role(of: "/usr/bin/notes") == .script)
        #expect(
            Set(notes.paths) == [
                "/usr/bin/notes", "/usr/share/notes/sync.py", "/usr/share/notes/__main__.py",
                modules + "/notes/__init__.py", modules + "/notes/gui.py",
                modules + "/notes/__pycache__/__init__.cpython-311.pyc",
            ])
        #expect(notes.privateDirectories == ["/usr/share/notes"])
        let main = try tree.catalog().find("main")
        #expect(main.paths == ["/opt/foo/main.py"])
        #expect(main.lockRefusal == nil)
    }

    @Test("An app that consists of an interpreter is refused, with advice")
    func interpreterOnly() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/python3.11")
        try tree.entry("python", "Exec=/usr/bin/python3.11")
        let app = try tree.catalog().find("python")
        #expect(app.executables.isEmpty)
        #expect(app.lockRefusal?.code == .interpreter)
        #expect(app.lockRefusal?.sentence.contains("the app's own script") == true)
    }

    @Test("A Flatpak consists of the programs of its deployment")
    func flatpak() throws {
        let tree = try FixtureTree()
        let deployment = "/var/lib/flatpak/app/org.x.Foo/x86_64/stable/abc"
        try tree.program(
            deployment + "/files/bin/foo", deployment + "/files/bin/tool", "/usr/bin/flatpak", "/usr/bin/bwrap")
        try tree.program(deployment + "/files/libexec/helper")
        try tree.write("[Application]\nname=org.x.Foo\ncommand=foo\n", to: deployment + "/metadata")
        try tree.link("/var/lib/flatpak/app/org.x.Foo/current", to: "x86_64/stable")
        try tree.link("/var/lib/flatpak/app/org.x.Foo/x86_64/stable/active", to: "abc")
        try tree.entry(
            "org.x.Foo",
            "Exec=/usr/bin/flatpak run --branch=stable --command=foo org.x.Foo @@u %U @@\nX-Flatpak=org.x.Foo",
            in: deployment + "/export/share/applications")
        try tree.link(
            "/var/lib/flatpak/exports/share/applications/org.x.Foo.desktop",
            to: "../../../app/org.x.Foo/current/active/export/share/applications/org.x.Foo.desktop")
        let listing = tree.catalog().installed()
        #expect(listing.problems.isEmpty)
        let app = try #require(listing.apps.first)
        #expect(app.kind == .flatpak && app.id.rawValue == "org.x.Foo")
        #expect(app.executables.first == AppExecutable(path: deployment + "/files/bin/foo", role: .program))
        #expect(
            Set(app.paths) == [
                deployment + "/files/bin/foo", deployment + "/files/bin/tool", deployment + "/files/libexec/helper",
            ])
        #expect(app.privateDirectories == [deployment + "/files/bin", deployment + "/files/libexec"])
    }

    @Test("A Flatpak's id that leads out of its directory is not followed")
    func flatpakEscape() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/flatpak", "/var/lib/flatpak/app/x/current/active/files/bin/a")
        try tree.entry("evil", "Exec=flatpak run ../app/x\nX-Flatpak=../../app/x")
        let listing = tree.catalog().installed()
        #expect(listing.apps.isEmpty)
        #expect(listing.problems.count == 1)
    }

    @Test("A snap consists of the programs of its image, without snap itself")
    func snap() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/snap", "/snap/fire/12/usr/lib/fire/fire", "/snap/fire/12/bin/python3")
        try tree.link("/snap/fire/current", to: "12")
        try tree.link("/snap/bin/fire", to: "/usr/bin/snap")
        try tree.write(
            "name: fire\napps:\n  fire:\n    command: usr/lib/fire/fire --x\n", to: "/snap/fire/12/meta/snap.yaml")
        try tree.entry(
            "fire_fire", "Exec=env BAMF_DESKTOP_FILE_HINT=/x /snap/bin/fire %u",
            in: "/var/lib/snapd/desktop/applications")
        let app = try tree.catalog().find("fire_fire")
        #expect(app.kind == .snap)
        #expect(app.paths == ["/snap/fire/12/usr/lib/fire/fire", "/snap/fire/12/bin/python3"])
    }

    @Test("AppImages are found by their entry or in the usual directories, once each")
    func appImages() throws {
        let tree = try FixtureTree()
        try tree.program(
            "/home/ann/Applications/Draw.AppImage", "/home/ann/Downloads/Paint 2.appimage",
            "/home/ann/Desktop/No.AppImage")
        try tree.entry(
            "draw", "Exec=/home/ann/Applications/Draw.AppImage %F", in: "/home/ann/.local/share/applications")
        let apps = tree.catalog().installed().apps
        #expect(apps.map(\.name) == ["draw", "Paint 2"])
        #expect(apps.map(\.kind) == [.appimage, .appimage])
        #expect(apps[1].id.rawValue == "exec:home-ann-Downloads-Paint 2.appimage")
        #expect(apps[1].desktopFile == nil)
        #expect(apps.allSatisfy { $0.privateDirectories.isEmpty })
    }

    @Test("A D-Bus activated app is what the bus starts")
    func dbus() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/libexec/term-server", "/usr/bin/term")
        try tree.entry("org.x.Term", "Exec=term\nDBusActivatable=true")
        try tree.write(
            "[D-BUS Service]\nName=org.x.Term\nExec=/usr/libexec/term-server --x\n",
            to: "/usr/share/dbus-1/services/org.x.Term.service")
        let app = try tree.catalog().find("org.x.Term")
        #expect(app.paths == ["/usr/bin/term", "/usr/libexec/term-server"])
    }

    @Test("An entry or a program with precedence adds files to a lock and removes none")
    func planted() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/bin/calc", "/usr/bin/other")
        try tree.entry("org.x.Calc", "Exec=calc")
        let catalog = tree.catalog()
        let id = try #require(AppID(rawValue: "org.x.Calc"))
        let own = "/home/ann/.local/share/applications"
        #expect(try catalog.executables(of: id).executables.map(\.path) == ["/usr/bin/calc"])
        for lines in [
            "Hidden=true", "Exec=/usr/bin/other", "Exec=not-there", "Exec=\"", "Type=Link", "TryExec=/none\nExec=calc",
        ] {
            try tree.entry("org.x.Calc", lines, in: own)
            #expect(try catalog.executables(of: id).executables.contains { $0.path == "/usr/bin/calc" }, "\(lines)")
        }
        try tree.write("broken", to: own + "/org.x.Calc.desktop")
        #expect(try catalog.executables(of: id).executables.contains { $0.path == "/usr/bin/calc" })
        try tree.remove(own + "/org.x.Calc.desktop")
        try tree.program("/home/ann/.local/bin/calc")
        let found = try tree.catalog(["PATH": "/home/ann/.local/bin:/usr/bin"]).executables(of: id)
        #expect(found.executables.map(\.path) == ["/usr/bin/calc", "/home/ann/.local/bin/calc"])
    }

    @Test("A user's entry for a helper does not make the app's directory shared")
    func plantedHelper() throws {
        let tree = try FixtureTree()
        try tree.program("/opt/x/x", "/opt/x/helper")
        try tree.entry("x", "Exec=/opt/x/x")
        try tree.entry("evil", "Exec=/opt/x/helper", in: "/home/ann/.local/share/applications")
        for reference in ["x", "/opt/x/x"] {
            let app = try tree.catalog().find(reference)
            #expect(app.paths == ["/opt/x/x", "/opt/x/helper"])
            #expect(app.privateDirectories == ["/opt/x"])
            #expect(app.sharedWith.contains("evil"))
        }
    }

    @Test("After an upgrade the new files are found, and a missing program is reported")
    func upgrade() throws {
        let tree = try FixtureTree()
        try tree.program("/usr/lib/foo/foo")
        try tree.package("foo", ["/usr/lib/foo/foo"])
        try tree.entry("foo", "Exec=/usr/lib/foo/foo")
        let catalog = tree.catalog()
        let id = try catalog.find("foo").id
        try tree.program("/usr/lib/foo/second", "/usr/libexec/foo-server")
        try tree.package("foo", ["/usr/lib/foo/foo", "/usr/lib/foo/second", "/usr/libexec/foo-server"])
        #expect(
            Set(try catalog.executables(of: id).executables.map(\.path))
                == ["/usr/lib/foo/foo", "/usr/lib/foo/second", "/usr/libexec/foo-server"])
        try tree.remove("/usr/lib/foo/foo")
        let thrown = #expect(throws: CatalogError.self) { try catalog.executables(of: id) }
        #expect(thrown?.code == .programMissing)
        #expect(thrown?.sentence.contains("/usr/lib/foo/foo") == true)
    }

    @Test("Wrappers of each other, circular links and deep chains end")
    func loops() throws {
        let tree = try FixtureTree()
        try tree.script("/usr/bin/a", "#!/bin/sh\nexec b \"$@\"\n")
        try tree.script("/usr/bin/b", "#!/bin/sh\nexec a \"$@\"\n")
        for number in 0..<40 {
            try tree.script("/opt/chain/s\(number)", "#!/bin/sh\nexec /opt/chain/s\(number + 1) \"$@\"\n")
        }
        try tree.link("/usr/bin/x", to: "y")
        try tree.link("/usr/bin/y", to: "x")
        try tree.entry("a", "Exec=a")
        try tree.entry("x", "Exec=x")
        try tree.entry("chain", "Exec=/opt/chain/s0")
        try tree.entry("self", "Exec=gtk-launch self")
        let catalog = tree.catalog()
        #expect(try catalog.find("a").paths == ["/usr/bin/a", "/usr/bin/b"])
        #expect(try catalog.find("chain").paths.count == 40)
        let listing = catalog.installed()
        #expect(
            Set(listing.problems.map(\.path)) == [
                "/usr/share/applications/x.desktop", "/usr/share/applications/self.desktop",
            ])
    }
}
