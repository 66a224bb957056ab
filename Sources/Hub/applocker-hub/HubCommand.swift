import ArgumentParser
import Foundation
import Glibc
import HubServer
import HubStore
import HubStorePostgres
import HubStoreSQLite
import Logging
import ServiceLifecycle
import UnixSignals

/// `applocker-hub`: one hub in one process.
@main
struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applocker-hub",
        abstract: "Stores and forwards sealed data of AppLocker's devices. It can read none of it.",
        discussion: """
            All state is in one directory, which the hub creates at its first start:

              applocker-hub --state /var/lib/applocker-hub

            It listens on 127.0.0.1:8440. A phone needs a host name over HTTPS: WebAuthn, service workers and Web Push do
            not work with an IP address. Either let the hub serve TLS itself,

              applocker-hub --state DIR --listen 0.0.0.0:443 --certificate fullchain.pem --key privkey.pem

            and it reads the files again when they change; or put it behind a reverse proxy, and name the proxy:

              applocker-hub --state DIR --trusted-proxy 127.0.0.1

            New households can be founded from this machine. From another machine they need an invitation,

              applocker-hub invite --state DIR --address https://hub.example

            which prints a link for a phone or a computer; or the token in DIR/registration-token, for which applocker hub connect URL asks. SIGTERM stops the hub gracefully, SIGHUP reloads certificate and companion.
            """, subcommands: [InviteCommand.self])

    @OptionGroup var stateOption: StateOption

    @Option(help: "Where to listen: HOST:PORT, [IPv6]:PORT, or unix:PATH.")
    var listen = "127.0.0.1:8440"

    @Option(
        help: """
            Store everything in PostgreSQL: a file with libpq's connection string (mode 0600), or "environment" for libpq's
            own variables (PGHOST, PGSERVICE, PGPASSFILE …).
            """)
    var postgres: String?

    @Option(help: "TLS certificate with its chain, PEM.")
    var certificate: String?

    @Option(help: "Private key of the certificate, PEM.")
    var key: String?

    @Option(
        help: """
            Who may found a household from another machine: token (holders of the registration token or of an invitation),
            open (anybody) or closed (nobody).
            """)
    var registration = Registration.token

    @Option(
        help:
            "Use X-Forwarded-For from this address or network (10.0.0.0/8), or \"unix\". May be repeated."
    )
    var trustedProxy: [String] = []

    @Option(help: "File with a token that lets other machines read /metrics.")
    var metricsTokenFile: String?

    @Option(
        help: "Directory with the companion's files, or \"none\". By default the one that is installed with the hub.")
    var web: String?

    @Option(help: "Days for which new households keep events, 1 to 3650.")
    var eventDays = 30

    @Option(help: "Quota of a household: 500M, 10G.")
    var quota = ByteCount(bytes: 10 << 30)

    @Option(help: "The largest video or voice note that companions send: 200M, 2G; at most 4G.")
    var recordingLimit = ByteCount(bytes: 500 << 20)

    @Option(help: "The most households, not counting shared vaults. By default there is no limit.")
    var households: Int?

    @Option(help: "Requests a second of one household; 0: no limit.")
    var householdRate: Double?

    @Option(help: "Requests a second of one device; 0: no limit.")
    var deviceRate: Double?

    @Option(help: "Requests a second from one address; 0: no limit.")
    var addressRate: Double?

    @Option(help: "Connections at once.")
    var connections: Int?

    @Option(help: "Connections at once from one address.")
    var connectionsPerAddress: Int?

    @Option(help: "Your mailto: or https: address for push services. Apple's requires one.")
    var pushContact: String?

    @Flag(help: "Send pushes to private networks and this machine too, over plain http as well.")
    var allowPrivatePush = false

    @Option(help: "What to log: debug, info (every request), notice, warning, error.")
    var log = LogLevel.notice

    enum Registration: String, ExpressibleByArgument { case token, open, closed }

    enum LogLevel: String, ExpressibleByArgument { case debug, info, notice, warning, error }

    func run() async throws {
        do {
            try await serve()
        } catch let error as ValidationError {
            throw error
        } catch {
            FileHandle.standardError.write(Data("applocker-hub: \(error)\n".utf8))
            throw ExitCode(1)
        }
    }

    private func serve() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        raiseDescriptorLimit()
        guard let state = stateOption.state else {
            throw ValidationError("Name the hub's directory: --state DIR. Run applocker-hub --help for an explanation.")
        }
        let directory = try HubDirectory(path: state)
        let level = Logger.Level(rawValue: log.rawValue) ?? .notice
        let logger = Logger(label: "hub") { HubLogHandler(label: $0, level: level) }
        let configuration = try configuration(directory)
        let (store, blobs) = try await stores(directory)
        let server = try HubServer(configuration: configuration, store: store, blobs: blobs, logger: logger)
        let listen = listen
        let reloading = Task {
            for await _ in await UnixSignalsSequence(trapping: .sighup) { server.reload() }
        }
        defer { reloading.cancel() }
        try await server.run(signals: [.sigterm, .sigint]) { port in
            // Port 0 is replaced by the port that was assigned.
            let shown =
                listen.hasPrefix("unix:") ? listen : "\(listen.prefix(upTo: listen.lastIndex(of: ":")!)):\(port)"
            logger.notice("listening", metadata: ["on": "\(shown)"])
            FileHandle.standardOutput.write(Data("listening on \(shown)\n".utf8))
        }
    }

    private func stores(_ directory: HubDirectory) async throws -> (any HubStore, any HubBlobStore) {
        guard let postgres else {
            return (try SQLiteHubStore(path: directory.database), try DirectoryBlobStore(path: directory.blobs))
        }
        let store = try await PostgresHubStore(postgres == "environment" ? .environment : .file(postgres))
        return (store, PostgresBlobStore(store))
    }
}
