public import Foundation
import Glibc
import Synchronization
import TestSupport

/// A private PostgreSQL server: data in a temporary directory, only a Unix socket, an ordinary user.
public final class PostgresServer: Sendable {
    public struct Failed: Error, CustomStringConvertible {
        public let description: String
    }

    /// The program directory of the newest installed server; nil if there is none.
    static var programs: String? {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let directories = versions.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        if let found = directories.first(where: { access($0 + "/initdb", X_OK) == 0 }) { return found }
        return Requirement.findProgram("initdb").map { ($0 as NSString).deletingLastPathComponent }
    }

    private static let everybody = Mutex<Task<PostgresServer, any Error>?>(nil)

    /// One server for the whole test run, started at its first use and stopped at the end.
    public static func shared() async throws -> PostgresServer {
        let starting = everybody.withLock { task in
            let starting = task ?? Task { try await PostgresServer() }
            if task == nil { atexit { PostgresServer.removeShared() } }
            task = starting
            return starting
        }
        return try await starting.value
    }

    private static let sharedPath = Mutex<(pid: pid_t, path: String)?>(nil)

    /// Static values aren't released at the end of the process.
    private static func removeShared() {
        guard let (pid, path) = sharedPath.withLock({ $0 }) else { return }
        kill(pid, SIGQUIT)
        // Its files are removed after it has ended, or after two seconds.
        for _ in 0..<100 where kill(pid, 0) == 0 { usleep(20_000) }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// In memory, if there is space: a database is 300 files, and creating them on ext4 is most of a test's time. The
    /// tests kill the server, not the computer: the result is the same.
    private static var parent: String {
        var facts = statvfs()
        guard statvfs("/dev/shm", &facts) == 0, UInt64(facts.f_bavail) * UInt64(facts.f_frsize) > 2 << 30 else {
            return "/tmp"
        }
        return "/dev/shm"
    }

    private let directory: TemporaryDirectory
    private let bin: String
    /// initdb and postgres refuse to run as root.
    private let user: uid_t? = geteuid() == 0 ? 65_534 : nil
    private let network: CuttableNetwork?
    private let process = Mutex<ChildProcess?>(nil)
    private let names = Mutex<(next: Int, unused: [String])>((0, []))

    /// - Parameter network: the server also listens at the far end of this network. Needs root.
    public init(network: CuttableNetwork? = nil) async throws {
        self.network = network
        guard let bin = Self.programs else { throw Failed(description: "no PostgreSQL server is installed") }
        self.bin = bin
        directory = try TemporaryDirectory(in: Self.parent)
        if let user { chown(directory.path, user, user) }
        let made = try await ChildProcess.run(
            bin + "/initdb",
            ["-D", directory.path("data"), "-U", "hub", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            workingDirectory: directory.path, user: user, timeout: .seconds(240))
        guard made.exit == .code(0) else { throw Failed(description: "initdb: \(made.errorOutput)") }
        if let network {
            let rules = directory.path("data/pg_hba.conf")
            let text = try String(contentsOfFile: rules, encoding: .utf8)
            try (text + "host all all \(network.address)/30 trust\n").write(
                toFile: rules, atomically: false, encoding: .utf8)
        }
        try await start()
        Self.sharedPath.withLock { [pid = process.withLock { $0?.pid }, path = directory.path] shared in
            if shared == nil, let pid { shared = (pid, path) }
        }
    }

    /// Returns once the server accepts connections.
    public func start() async throws {
        let arguments = [
            "-D", directory.path("data"), "-k", directory.path, "-c", "listen_addresses=\(network?.address ?? "")",
            "-c",
            "max_connections=300", "-c", "shared_buffers=64MB",
        ]
        let server =
            if let network, let user {
                // Each program replaces itself with the next by exec: the process is the server's.
                try ChildProcess(
                    "ip",
                    [
                        "netns", "exec", network.name, "setpriv", "--reuid=\(user)", "--regid=\(user)",
                        "--clear-groups",
                        bin + "/postgres",
                    ] + arguments, workingDirectory: directory.path)
            } else {
                try ChildProcess(bin + "/postgres", arguments, workingDirectory: directory.path, user: user)
            }
        process.withLock { $0 = server }
        let end = ContinuousClock.now + .seconds(240)
        repeat {
            if try await psql("postgres", "SELECT 1").exit == .code(0) { return }
            guard server.isRunning else { throw Failed(description: "postgres: \(server.errorOutput)") }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw Failed(description: "postgres does not answer: \(server.errorOutput)")
    }

    /// SIGINT: disconnects clients; SIGQUIT: like a crash, the next start recovers; SIGKILL.
    public func stop(_ signal: Int32 = SIGINT) async throws {
        guard let server = process.withLock({ $0 }) else { return }
        server.kill(signal)
        try await server.wait()
    }

    /// Creates a database and returns its connection string for libpq.
    public func makeDatabase() async throws -> String {
        let (name, unused) = names.withLock { names in
            names.next += 1
            defer { names.unused = [] }
            return ("test\(names.next)", names.unused)
        }
        for old in unused { _ = try await psql("postgres", "DROP DATABASE \(old) WITH (FORCE)") }
        let made = try await psql("postgres", "CREATE DATABASE \(name)")
        guard made.exit == .code(0) else { throw Failed(description: made.errorOutput) }
        return "host=\(directory.path) user=hub dbname=\(name)"
    }

    /// The connection string of the same database over the network.
    public func overNetwork(_ connectionString: String) -> String {
        connectionString.replacingOccurrences(of: "host=\(directory.path)", with: "host=\(network?.address ?? "")")
    }

    /// Marks a database as unused: it is removed when the next one is created.
    public func discard(_ connectionString: String) {
        guard let name = connectionString.split(separator: "=").last else { return }
        names.withLock { $0.unused.append(String(name)) }
    }

    /// Runs SQL with psql in a database made here, or in "postgres"; unaligned output without headers.
    @discardableResult
    public func psql(
        _ database: String, _ sql: String
    ) async throws -> (exit: ChildProcess.Exit, output: String, errorOutput: String) {
        try await ChildProcess.run(
            bin + "/psql",
            [
                "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql,
                database.contains("=") ? database : "host=\(directory.path) user=hub dbname=\(database)",
            ])
    }
}
