import ArgumentParser
import Foundation
import HeadlessCompanion
import HubClient
import Policy
import SealedFormats
import WireProtocol

struct CompanionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion",
        abstract: "A companion without a screen, for tests and scripts: what a phone does, from the command line.",
        discussion: """
            Its keys lie in DIR/keys.json, which only you may read, behind no PIN: whoever reads that file is this \
            device. Use a phone for what matters.

              applocker companion join LINK --name script --state DIR
              applocker companion command unlock firefox-esr --for 10m --state DIR
            """,
        subcommands: [
            Join.self, Status.self, Alerts.self, Apps.self, Requests.self, Notes.self, Note.self, Photo.self,
            Command.self, Watch.self, PIN.self, Push.self, Leave.self,
        ])

    struct Place: ParsableArguments {
        @Option(help: ArgumentHelp("The companion's own directory.", valueName: "dir"), completion: .directory)
        var state: String
        @OptionGroup var output: OutputOptions

        func open() throws -> Companion { try Companion(directory: state, connect: CompanionCommand.connect) }

        /// Up to date with the hub.
        func synced() async throws -> Companion {
            let companion = try open()
            try await companion.sync()
            return companion
        }
    }

    static let connect: Companion.Connect = { settings, token in
        let address: HubAddress
        do {
            address = try HubAddress(settings.url, allowsPlain: settings.isInsecure)
        } catch {
            throw CommandLineError(.usage, code: "usage", "\(error)")
        }
        return try HubClient(
            HubClientSettings(
                address: address, token: token.map { $0.withUnsafeBytes { Data($0) } },
                certificates: settings.certificates, proxy: settings.proxy))
    }

    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Join by a pairing link, and wait until the owner has agreed.",
            discussion: """
                  applocker companion join LINK --name "Anna's phone" --state DIR
                """)

        @Argument(help: "What `applocker pair` shows; - reads it from standard input.") var link: String
        @Option(help: "What the owner is shown.") var name: String
        @Option(help: ArgumentHelp("PEM file with the certificates to trust.", valueName: "file")) var ca: String?
        @Option(help: ArgumentHelp("An HTTP proxy.", valueName: "url")) var proxy: String?
        @Flag(help: "Plain HTTP to another machine.") var insecure = false
        @OptionGroup var place: Place

        func run() async throws {
            let link = self.link == "-" ? readLine() ?? "" : self.link
            let companion = try await Companion.join(
                link, name: name, directory: place.state, certificates: ca.map { URL(fileURLWithPath: $0).path },
                proxy: proxy, isInsecure: insecure, connect: CompanionCommand.connect)
            let report = await companion.report()
            if place.output.json { return try Output.standard.json(report) }
            Output.standard.line("Joined as \(report.device).")
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what the computers' status is.",
            discussion: """
                  applocker companion status --state DIR --json
                """)
        @OptionGroup var place: Place

        func run() async throws {
            let report = await (try place.synced()).report()
            if place.output.json { return try Output.standard.json(report) }
            for computer in report.computers {
                let status = computer.status.status
                Output.standard.line(
                    "\(computer.status.name.terminalSafe): \(status.protection.rawValue), \(status.lockedApps) locked, "
                        + "\(status.unlockedApps) open; \(TimeText.local(Double(computer.status.clock) / 1_000))")
                for sentence in status.degraded + computer.status.hubProblems {
                    Output.standard.line("  \(sentence.terminalSafe)")
                }
                if computer.missingEvents > 0 {
                    Output.standard.line("  The hub keeps back \(computer.missingEvents) events.")
                }
            }
            for sentence in report.misbehaviour { Output.standard.line(sentence.terminalSafe) }
        }
    }

    struct Alerts: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what happened, oldest first.",
            discussion: """
                  applocker companion alerts --state DIR
                """)
        @OptionGroup var place: Place

        func run() async throws {
            let events = await (try place.synced()).events()
            if place.output.json { return try Output.standard.json(["events": events]) }
            for event in events {
                Output.standard.line(
                    "\(TimeText.local(Double(event.time) / 1_000))  \(event.kind.rawValue)  \(event.sentence.terminalSafe)"
                )
            }
        }
    }

    struct Apps: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the computers' apps.",
            discussion: """
                  applocker companion apps --state DIR
                """)
        @OptionGroup var place: Place

        func run() async throws {
            let apps = await (try place.synced()).apps()
            let named = Dictionary(uniqueKeysWithValues: apps.map { ($0.key.description, $0.value) })
            if place.output.json { return try Output.standard.json(named) }
            for app in named.values.joined() {
                Output.standard.line("\(app.name.terminalSafe) (\(app.id.terminalSafe)): \(app.state.rawValue)")
            }
        }
    }

    struct Requests: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the launches that wait for an answer.",
            discussion: """
                  applocker companion requests --state DIR
                """)
        @OptionGroup var place: Place

        func run() async throws {
            let requests = await (try place.synced()).requests()
            if place.output.json { return try Output.standard.json(["requests": requests]) }
            for request in requests {
                Output.standard.line(
                    "\(request.prompt)  \(request.appName.terminalSafe) on \(request.computerName.terminalSafe)")
            }
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what comes, as it comes, until Ctrl-C. With --json an object a line.",
            discussion: """
                  applocker companion watch --state DIR --json
                """)
        @OptionGroup var place: Place

        func run() async throws {
            let companion = try await place.synced()
            let json = place.output.json
            try await companion.watch { item, taken in
                try WatchLine(item, taken).map { line in
                    if json { try Output.standard.jsonLine(line) } else { Output.standard.line(line.sentence) }
                }
                return true
            }
            throw CommandLineError(.refused, code: "hub", "The hub closed the connection.")
        }
    }

    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave the household: token, push and PIN share end at once.",
            discussion: """
                  applocker companion leave --state DIR
                """)
        @OptionGroup var place: Place

        func run() async throws {
            try await place.open().hub.leave()
            Output.standard.line("Left. The owner still sees the device until it is revoked.")
        }
    }
}

/// One line of `companion watch --json`.
struct WatchLine: Encodable {
    var kind: String
    /// Milliseconds since 1970 when it arrived here.
    var received = UInt64(Date().timeIntervalSince1970 * 1_000)
    var id: HubID?
    var revision: UInt64?
    var event: HouseholdEvent?
    var request: LaunchRequest?
    var status: ComputerStatus?
    var reply: CommandReply?

    init?(_ item: HubStreamItem, _ taken: Companion.Taken?) {
        switch taken {
        case .event(let id, let event): (kind, self.id, self.event) = ("event", id, event)
        case .request(let id, let revision, let request):
            (kind, self.id, self.revision, self.request) = ("request", id, revision, request)
        case .status(let id, let status): (kind, self.id, self.status) = ("status", id, status)
        case .reply(let id, let revision, let reply):
            (kind, self.id, self.revision, self.reply) = ("reply", id, revision, reply)
        case .apps(let id, _): (kind, self.id) = ("apps", id)
        case .device(let id, _): (kind, self.id) = ("device", id)
        case .keys: kind = "keys"
        case .content(let name): (kind, revision) = (name.collection.rawValue, name.revision)
        case nil:
            guard case .live = item else { return nil }
            kind = "live"
        }
    }

    var sentence: String {
        (event?.sentence ?? request.map { "\($0.appName) waits: \($0.prompt)" } ?? reply?.sentence ?? kind).terminalSafe
    }
}
