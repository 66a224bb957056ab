import Testing

@testable import AppCatalog

@Suite("Targets of commands")
struct CommandTargetTests {
    @Test(
        "Programs that start another program are skipped",
        arguments: [
            ("env A=b C=d foo --x", CommandTarget.program("foo")), ("/usr/bin/env -u HOME -i foo", .program("foo")),
            ("env -S foo --x", .shellText("foo --x")), ("nice -n 5 ionice -c 3 foo", .program("foo")),
            ("nohup setsid foo", .program("foo")), ("timeout -k 1 5 foo", .program("foo")),
            ("dbus-launch --exit-with-session foo", .program("foo")), ("sudo -u bob env X=1 foo", .program("foo")),
            ("sh -c 'foo --bar'", .shellText("foo --bar")), ("bash -lc foo", .shellText("foo")),
            ("sh /opt/x/run.sh a", .script("/opt/x/run.sh", interpreter: "sh")),
            ("python3 -W ignore /opt/foo/main.py a", .script("/opt/foo/main.py", interpreter: "python3")),
            ("/usr/bin/python3.11 -m foo.app", .pythonModule("foo.app")),
            ("python3 -c 'import x'", .program("python3")),
            ("python3", .program("python3")),
            ("java -Xmx1g -jar /opt/x/x.jar", .script("/opt/x/x.jar", interpreter: "java")),
            ("java -cp /opt/x/x.jar:/opt/y org.Main", .script("/opt/x/x.jar", interpreter: "java")),
            ("electron22 /opt/x/app.asar", .script("/opt/x/app.asar", interpreter: "electron22")),
            (
                "flatpak run --branch=stable --command=foo --file-forwarding org.x.Foo @@u @@",
                .flatpak(id: "org.x.Foo", command: "foo")
            ),
            ("snap run lxd.lxc", .snap(instance: "lxd", app: "lxc")), ("gtk-launch org.x.Foo", .entry("org.x.Foo")),
            ("gapplication launch org.x.Foo", .service("org.x.Foo")), ("xterm -e foo a", .program("foo")),
            ("xterm -e 'foo a'", .shellText("foo a")), ("xterm", .program("xterm")),
            ("flatpak list", .program("flatpak")),
            (
                "/lib64/ld-linux-x86-64.so.2 --library-path /opt/x/lib --argv0 x /opt/x/real --x",
                .script("/opt/x/real", interpreter: "ld-linux-x86-64.so.2")
            ),
            (
                "nice /opt/x/lib/ld-musl-x86_64.so.1 -- /opt/x/real",
                .script("/opt/x/real", interpreter: "ld-musl-x86_64.so.1")
            ),
            ("/lib64/ld-linux-x86-64.so.2 --help", .program("/lib64/ld-linux-x86-64.so.2")),
            ("/home/ann/env foo", .program("/home/ann/env")), ("systemd-run --user --unit x foo", .program("foo")),
        ])
    func starters(command: String, expected: CommandTarget) throws {
        #expect(CommandTarget.of(try DesktopEntry.words(of: command)) == expected)
    }

    @Test("An endless chain of starters stops")
    func endless() {
        #expect(CommandTarget.of(Array(repeating: "nohup", count: 1000)) == nil)
        #expect(CommandTarget.of([]) == nil)
    }

    @Test(
        "An interpreter is identified by its family in every version",
        arguments: [
            "python3", "python3.11", "python3.11-dbg", "python3.11d", "perl5.36.0", "lua5.4", "php8.2", "wine64-stable",
            "electron22", "node18", "tclsh8.6", "gjs-console", "busybox",
        ])
    func interpreters(name: String) { #expect(Interpreter.named(name) != nil) }

    @Test(
        "A program whose name contains an interpreter's is not one",
        arguments: ["pythonista", "luakit", "perlman", "nodemon", "javac", "python3-config", "firefox", "wireshark"])
    func notInterpreters(name: String) { #expect(Interpreter.named(name) == nil) }
}
