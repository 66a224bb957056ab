/// Programs that run other files: which file of a command line is the one they run. They are shared by everything
/// written in their language, so it is always that file which is locked, never the interpreter.
struct Interpreter: Sendable {
    /// The name without its version: "python" for python3.11.
    let family: String
    /// Options whose argument is the next word.
    var withArgument: Set<String> = []

    private static let all: [Interpreter] = [
        Interpreter(family: "python", withArgument: ["-W", "-X", "--check-hash-based-pycs"]),
        Interpreter(family: "pypy", withArgument: ["-W", "-X"]),
        Interpreter(family: "perl", withArgument: ["-I"]),
        Interpreter(family: "ruby", withArgument: ["-I", "-r", "-C"]), Interpreter(family: "jruby"),
        Interpreter(family: "node", withArgument: ["-r", "--require", "--import"]),
        Interpreter(family: "nodejs", withArgument: ["-r", "--require", "--import"]),
        Interpreter(family: "deno"), Interpreter(family: "bun"),
        Interpreter(
            family: "java", withArgument: ["-cp", "-classpath", "--class-path", "-p", "--module-path", "-jar", "-m"]),
        Interpreter(family: "javaw", withArgument: ["-cp", "-classpath", "-jar"]),
        Interpreter(family: "lua"), Interpreter(family: "luajit"), Interpreter(family: "texlua"),
        Interpreter(family: "php", withArgument: ["-c", "-d"]), Interpreter(family: "php-cgi"),
        Interpreter(family: "tclsh"), Interpreter(family: "wish"), Interpreter(family: "expect"),
        Interpreter(family: "gjs", withArgument: ["-I"]), Interpreter(family: "gjs-console", withArgument: ["-I"]),
        Interpreter(family: "cjs"), Interpreter(family: "seed"), Interpreter(family: "qjs"),
        Interpreter(family: "mono"), Interpreter(family: "mono-sgen"), Interpreter(family: "cli"),
        Interpreter(family: "dotnet"),
        Interpreter(family: "wine"), Interpreter(family: "wine-preloader"), Interpreter(family: "wineserver"),
        Interpreter(family: "wineloader"), Interpreter(family: "box86"), Interpreter(family: "box64"),
        Interpreter(family: "electron"), Interpreter(family: "nw"),
        Interpreter(family: "guile"), Interpreter(family: "Rscript"), Interpreter(family: "R"),
        Interpreter(family: "julia"), Interpreter(family: "racket"), Interpreter(family: "sbcl"),
        Interpreter(family: "escript"), Interpreter(family: "erl"), Interpreter(family: "elixir"),
        Interpreter(family: "ocaml"), Interpreter(family: "groovy"), Interpreter(family: "scala"),
        Interpreter(family: "awk"), Interpreter(family: "gawk"), Interpreter(family: "mawk"),
        Interpreter(family: "qml"), Interpreter(family: "qmlscene"),
        Interpreter(family: "busybox"), Interpreter(family: "toybox"),
    ]

    /// The dynamic loader as a command: it reads a program, which need not be executable (ld.so(8)).
    static let loader = Interpreter(
        family: "loader",
        withArgument: [
            "--library-path", "--preload", "--audit", "--inhibit-rpath", "--argv0", "--glibc-hwcaps-prepend",
            "--glibc-hwcaps-mask",
        ])

    private static let byFamily = Dictionary(uniqueKeysWithValues: all.map { ($0.family, $0) })

    /// python3.11, perl5.36.0, lua5.4, php8.2, wine64-stable, electron22: a family followed by a version.
    static func named(_ name: String) -> Interpreter? {
        if let exact = byFamily[name] { return exact }
        var base = name[...]
        for suffix in ["-dbg", "-stable", "-staging", "-devel", "-development", "-bin", "-preloader"]
        where base.hasSuffix(suffix) {
            base = base.dropLast(suffix.count)
        }
        // "python3.11d" and "python3.11m" are Python's debugging and old ABI builds.
        if base.hasPrefix("python"), let last = base.last, "dm".contains(last) { base = base.dropLast() }
        let version = base.reversed().prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
        return byFamily[String(base.dropLast(version.count))]
    }

    /// The file that a command line of this interpreter runs; nil when it names none.
    func target(_ name: String, _ words: ArraySlice<String>) -> CommandTarget? {
        var words = words
        var classPath: String?
        while let word = words.first, word.hasPrefix("-"), word != "-" {
            if word == "--" {
                words = words.dropFirst()
                break
            }
            let argument = words.dropFirst().first
            switch (family, word) {
            case ("python", "-c"), ("perl", "-e"), ("perl", "-E"), ("ruby", "-e"), ("node", "-e"), ("php", "-r"):
                return nil
            case ("python", "-m"), ("pypy", "-m"): return argument.map { .pythonModule($0) }
            case ("java", "-jar"), ("javaw", "-jar"): return argument.map { .script($0, interpreter: name) }
            case ("java", "-cp"), ("java", "-classpath"), ("java", "--class-path"), ("javaw", "-cp"):
                classPath = argument?.split(separator: ":").first.map(String.init)
            default: break
            }
            words = words.dropFirst(withArgument.contains(word) ? 2 : 1)
        }
        // With a class path the next word is a class; its archive is what can be locked.
        if let classPath { return .script(classPath, interpreter: name) }
        // `deno run file`, `bun run file`.
        if ["deno", "bun"].contains(family), words.first == "run" { words = words.dropFirst() }
        return words.first.map { .script($0, interpreter: name) }
    }
}
