import TestSupport
import Testing

@testable import AppCatalog

@Suite("Reading shell scripts without running them")
struct ShellScriptTests {
    private func targets(
        _ source: String, paths: [String] = ["/usr/bin/foo"], root: String = "", isText: Bool = false
    ) -> [ShellScriptReader.Mention] {
        var reader = ShellScriptReader(
            files: HostFiles(root: root), environment: CatalogEnvironment(home: "/home/ann", root: root),
            scriptPaths: paths)
        return reader.read(source, isText: isText)
    }

    private func continuation(_ source: String, paths: [String] = ["/usr/bin/foo"], root: String = "")
        -> [CommandTarget]
    {
        targets(source, paths: paths, root: root).filter { $0.strength == .continues }.map(\.target)
    }

    @Test("Assignments, defaults and conditions lead to every program that may be started")
    func assignments() {
        let source = """
            #!/bin/sh
            # exec /not/this
            NAME=foo
            LIBDIR=/usr/lib/$NAME
            export OTHER="${OTHER:-/opt/other}"
            if [ -n "$X" ]; then
              PROG='/usr/lib/a b/one'
            else
              PROG=/usr/lib/two
            fi
            cat <<EOF
            exec /not/this/either
            EOF
            [ -x "$LIBDIR/early" ] && exec "$LIBDIR/early"
            exec env A=b \\
              "$OTHER/run" "$@"
            exec $PROG "$@"
            """
        #expect(
            continuation(source) == [
                .program("/usr/lib/foo/early"), .program("/opt/other/run"), .program("/usr/lib/a b/one"),
                .program("/usr/lib/two"),
            ])
    }

    @Test(
        "A script's own directory is recognised in many forms",
        arguments: [
            #"exec "$(dirname "$0")/bin" "$@""#, #"d=`dirname $0`; exec $d/bin"#, #"exec "${0%/*}/bin""#,
            #"D=$(cd "$(dirname "$0")" && pwd); exec "$D"/bin"#, #"S="$0"; exec "$(dirname "$S")"/bin"#,
            #"exec "$(dirname -- "${BASH_SOURCE[0]}")/bin""#, #"sd=$(pwd); exec $UNSET "$sd/bin""#,
        ])
    func ownDirectory(source: String) {
        #expect(continuation(source, paths: ["/opt/x/run"]) == [.program("/opt/x/bin")])
    }

    @Test("Directories above the script's are resolved")
    func parent() {
        #expect(
            continuation(#"exec "$(dirname "$0")/../lib/bin""#, paths: ["/opt/x/bin/run"])
                == [.program("/opt/x/bin/../lib/bin")])
    }

    @Test("The last command with the script's arguments is the continuation, a tool before it is not")
    func strength() {
        let found = targets("grep -q x /proc/cpuinfo\n/usr/lib/foo/helper --check\n/usr/lib/foo/main \"$@\"\n")
        #expect(found.first { $0.target == .program("grep") }?.strength == .command)
        #expect(found.first { $0.target == .program("/usr/lib/foo/helper") }?.strength == .command)
        #expect(found.first { $0.target == .program("/usr/lib/foo/main") }?.strength == .continues)
    }

    @Test("A debugger before the program is skipped")
    func debugger() {
        let source = "GDB=/usr/bin/gdb\nRR=\nRR='rr record'\nexec $RR \"/usr/lib/foo/main\" \"$@\"\n"
        #expect(continuation(source).contains(.program("/usr/lib/foo/main")))
        #expect(!continuation(source).contains(.program("rr")))
    }

    @Test("In the text of sh -c every command is a target")
    func text() {
        let found = targets("cd /x && foo --a; bar", isText: true)
        #expect(found.map(\.target) == [.program("cd"), .program("/x"), .program("foo"), .program("bar")])
    }

    @Test("Five thousand random scripts are read to the end")
    func random() {
        var generator = RepeatableRandom()
        let pieces = [
            "$", "(", ")", "{", "}", "`", "\"", "'", "\\", "\n", ";", "exec ", "A=", "$A", "${A:-", "$(dirname \"$0\")",
            "<<E\n", "E\n", "/bin/x ", "if ", "#", "<", "&", "|", "$@", "é", "${", "$((", "${A%/*}",
        ]
        for _ in 0..<5000 {
            let source = (0..<Int.random(in: 0..<40, using: &generator))
                .map { _ in pieces.randomElement(using: &generator)! }.joined()
            #expect(targets(source).count <= 256)
        }
    }

    @Test("Variables that grow at every step stay bounded")
    func growth() {
        let doubling = "A=xx\n" + String(repeating: "A=\"$A$A\"\n", count: 200) + "exec \"$A\"\n"
        #expect(targets(doubling).count <= 256)
        let values = (0..<200).map { "A=/v\($0)\nB=\"$A$A$A$A$A$A\"\n" }.joined()
        #expect(targets(values).count <= 256)
    }

    @Test(
        "The interpreter of a script",
        arguments: [
            ("#!/bin/sh\n", "sh"), ("#! /usr/bin/env python3\n", "python3"), ("#!/usr/bin/env -S node --x\n", "node"),
            ("#!/usr/bin/env A=b perl", "perl"), ("no", nil), ("#!", nil), ("#!\n/bin/sh", nil),
        ])
    func interpreter(text: String, expected: String?) {
        #expect(ScriptHead.interpreter(Array(text.utf8)) == expected)
    }
}
