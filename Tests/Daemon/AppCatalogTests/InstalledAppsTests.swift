import AppCatalog
import Foundation
import Policy
import SystemTestSupport
import TestSupport
import Testing

/// The apps that are installed here, compared with dpkg and the kernel.
@Suite("Installed apps")
struct InstalledAppsTests {
    private static let catalog = AppCatalog(environment: CatalogEnvironment(home: "/root"))

    /// The programs of packages, according to dpkg: every executable file that is neither documentation nor a library.
    private func programs(ofPackages packages: [String]) async throws -> Set<String> {
        let listing = try await ChildProcess.run("/usr/bin/dpkg-query", ["-L"] + packages)
        var found: Set<String> = []
        for path in listing.output.split(separator: "\n").map(String.init) {
            guard !path.hasPrefix("/usr/share/bug/"), !path.hasPrefix("/etc/"), !path.contains(".so"),
                !path.hasPrefix("/usr/share/libreoffice/bin")
            else { continue }
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0 else {
                continue
            }
            found.insert(path)
        }
        return found
    }

    @Test("Chromium: the wrapper, the browser, its helpers", .requires(.program("chromium")))
    func chromium() async throws {
        let app = try Self.catalog.find("Chromium Web Browser")
        #expect(app.id.rawValue == "chromium" && app.icon == "chromium")
        #expect(app.role(of: "/usr/bin/chromium") == .launcher)
        #expect(app.role(of: "/usr/lib/chromium/chromium") == .program)
        #expect(app.privateDirectories == ["/usr/lib/chromium"])
        let known = try await programs(ofPackages: ["chromium", "chromium-common"])
        #expect(known.count >= 3)
        #expect(known.subtracting(app.paths).isEmpty)
    }

    @Test("Firefox: the browser, its helpers, the wrapper beside it", .requires(.program("firefox-esr")))
    func firefox() async throws {
        let app = try Self.catalog.find("firefox-esr.desktop")
        #expect(app.executables.first?.path == "/usr/lib/firefox-esr/firefox-esr")
        #expect(app.privateDirectories == ["/usr/lib/firefox-esr"])
        let known = try await programs(ofPackages: ["firefox-esr"])
        #expect(known.count >= 5)
        #expect(known.subtracting(app.paths).isEmpty)
    }

    @Test("Calculator: the window, the command line, the search provider", .requires(.program("gnome-calculator")))
    func calculator() async throws {
        let app = try Self.catalog.find("calculator")
        #expect(app.id.rawValue == "org.gnome.Calculator")
        #expect(app.executables.first == AppExecutable(path: "/usr/bin/gnome-calculator", role: .program))
        #expect(app.role(of: "/usr/libexec/gnome-calculator-search-provider") == .service)
        #expect(app.privateDirectories.isEmpty)
        let known = try await programs(ofPackages: ["gnome-calculator"])
        #expect(known == Set(app.paths))
    }

    @Test("LibreOffice Calc is all of LibreOffice, and names the apps that share it", .requires(.program("localc")))
    func calc() async throws {
        let app = try Self.catalog.find("libreoffice-calc")
        #expect(app.executables.first?.path == "/usr/lib/libreoffice/program/soffice")
        #expect(app.privateDirectories.contains("/usr/lib/libreoffice/program"))
        #expect(app.sharedWith.contains("LibreOffice Start Center"))
        let known = try await programs(ofPackages: ["libreoffice-core", "libreoffice-calc", "libreoffice-common"])
        #expect(known.count >= 15)
        #expect(known.subtracting(app.paths).isEmpty)
    }

    @Test("Everything that Chromium runs is its own or refused", .requires(.program("chromium")))
    func chromiumRunning() async throws {
        let home = try TemporaryDirectory()
        try await watch(
            "chromium", "chromium",
            ["--user-data-dir=" + home.path("profile"), "--headless", "--no-sandbox", "--disable-gpu", "about:blank"],
            home, processes: 5)
    }

    @Test("Everything that Firefox runs is its own or refused", .requires(.program("firefox-esr")))
    func firefoxRunning() async throws {
        let home = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: home.path("profile"), withIntermediateDirectories: true)
        try await watch(
            "firefox-esr", "firefox-esr",
            ["--headless", "--no-remote", "--profile", home.path("profile"), "about:blank"],
            home, processes: 3)
    }

    @Test("Everything that LibreOffice runs is its own or refused", .requires(.program("localc")))
    func calcRunning() async throws {
        try await watch(
            "libreoffice-calc", "localc", ["--headless", "--norestore"], TemporaryDirectory(), processes: 2)
    }

    /// Starts a program, and checks the executables of all its descendants until enough processes of the app run.
    private func watch(
        _ id: String, _ program: String, _ arguments: [String], _ home: TemporaryDirectory, processes: Int
    ) async throws {
        let path = try #require(Requirement.findProgram(program))
        let child = try ChildProcess(
            path, arguments, environment: ["HOME": home.path, "PATH": "/usr/bin:/bin", "TMPDIR": home.path])
        defer { child.kill() }
        let app = try Self.catalog.find(id)
        let own = Set(app.paths)
        let essential = Self.catalog.essential
        var seen: Set<String> = []
        await eventually("\(processes) processes of \(id) run") {
            let now = programs(below: child.pid)
            seen.formUnion(now)
            return now.filter { own.contains($0) }.count >= processes
        }
        #expect(!seen.isDisjoint(with: own))
        for program in seen { #expect(own.contains(program) || essential.refusal(for: program) != nil, "\(program)") }
    }

    private func family(of process: Int32) -> [Int32] {
        var found: [Int32] = [process]
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let parents: [(Int32, Int32)] = all.compactMap { name in
            guard let pid = Int32(name), let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")"), let parent = text[end...].split(separator: " ").dropFirst(2).first
            else { return nil }
            return Int32(parent).map { (pid, $0) }
        }
        var index = 0
        while index < found.count {
            found += parents.filter { $0.1 == found[index] }.map(\.0)
            index += 1
        }
        return found
    }

    private func programs(below process: Int32) -> [String] {
        // Until its execve the child runs this program.
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return family(of: process)
            .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/exe") }
            .filter { $0.hasPrefix("/") && !$0.hasSuffix(" (deleted)") && $0 != own }
    }

    @Test("All apps of the machine are listed without an error")
    func listing() {
        let listing = Self.catalog.installed()
        #expect(!listing.apps.isEmpty)
        for app in listing.apps {
            #expect(!app.name.isEmpty)
            #expect(app.lockRefusal != nil || !app.executables.isEmpty)
            for executable in app.executables {
                #expect(FileManager.default.fileExists(atPath: executable.path))
                #expect(URL(fileURLWithPath: executable.path).resolvingSymlinksInPath().path == executable.path)
                #expect(
                    Self.catalog.essential.refusal(for: executable.path) == nil
                        || app.privateDirectories.contains { executable.path.hasPrefix($0 + "/") })
            }
            for directory in app.privateDirectories {
                #expect(!["/usr/bin", "/usr/lib", "/usr/libexec", "/bin", "/opt", "/root"].contains(directory))
            }
        }
        for problem in listing.problems { #expect(problem.description.hasSuffix(".")) }
    }

    @Test("Two hundred entries are listed, each with its files")
    func many() throws {
        let tree = try FixtureTree()
        for number in 0..<200 {
            try tree.program("/usr/lib/app\(number)/main", "/usr/lib/app\(number)/helper")
            try tree.script("/usr/bin/app\(number)", "#!/bin/sh\nexec /usr/lib/app\(number)/main \"$@\"\n")
            let translations = (0..<60).map { "Name[x\($0)]=Übersetzung\nComment[x\($0)]=Übersetzung\n" }.joined()
            try tree.entry("app\(number)", "Exec=app\(number) %U\n" + translations)
            try tree.write(
                "/.\n/usr/bin/app\(number)\n/usr/lib/app\(number)\n/usr/lib/app\(number)/main\n/usr/lib/app\(number)/helper\n",
                to: "/var/lib/dpkg/info/app\(number).list")
        }
        let catalog = tree.catalog()
        let listing = catalog.installed()
        #expect(listing.apps.count == 200 && listing.problems.isEmpty)
        #expect(listing.apps.allSatisfy { $0.executables.count == 3 && $0.privateDirectories.count == 1 })
    }
}
