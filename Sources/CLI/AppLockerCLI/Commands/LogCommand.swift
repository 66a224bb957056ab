import ArgumentParser
import ControlAPI
import LocalControl

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the activity log, and verify it.",
        subcommands: [Show.self, Verify.self], defaultSubcommand: Show.self)

    struct Show: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the events: launches, passcodes, changes; newest last (the default).",
            discussion: """
                Your own events; root sees everybody's.

                  applocker log
                  applocker log --all                everybody's, with the owner's passcode
                  applocker log show --json
                  applocker log --limit 200 --app firefox-esr
                  applocker log --limit 100000 --json    everything that is kept
                  applocker log --follow
                  applocker log --follow --json      one object a line
                """)

        @Option(help: "How many events at most, 1 to 100000.") var limit = 50
        @Option(help: AppNames.help) var app: String?
        @Flag(help: "Other users' events too.") var all = false
        @Flag(help: "Keep showing new events, until Ctrl-C.") var follow = false
        @OptionGroup var options: CommonOptions

        /// As many as the log keeps.
        private static let mostEvents = 100_000

        func validate() throws {
            guard 1...Self.mostEvents ~= limit else {
                throw ValidationError("--limit takes a number from 1 to \(Self.mostEvents).")
            }
        }

        func run() async throws {
            let client = client
            let app = try await id(client)
            let (first, passcode) = try await owner.lookingFirst {
                try await newest(limit, client, of: app, token: $0)
            }
            guard follow else {
                if output.json { return try Output.standard.json(first) }
                if first.events.isEmpty { Output.standard.line("Nothing is recorded yet.") }
                return try show(first.events)
            }
            try show(first.events)
            var last = first.events.last?.number ?? 0
            guard let passcode else { return try await follow(client, of: app, token: nil, after: &last) }
            while true {
                do {
                    try await owner.open(with: passcode) {
                        try await follow(client, of: app, token: $0, after: &last)
                    }
                } catch let error as ControlError where error.code == .sessionNeeded {
                    // A session lasts for fifteen minutes at most.
                }
            }
        }

        /// Shows new events until the task is cancelled or a request is refused.
        private func follow(
            _ client: ControlClient, of app: String?, token: String?, after last: inout Int64
        ) async throws {
            while true {
                try await Task.sleep(for: .seconds(1))
                // As many as a reply may have: a burst within a second would be incomplete with fewer.
                let query = LogQuery(after: last, limit: LogQuery.maximumLimit, app: app, all: all)
                let next = try await client.call(\.log, query: query, token: token)
                try show(next.events)
                last = next.events.last?.number ?? last
            }
        }

        /// An app that was removed from the list is still in the log, by its id.
        private func id(_ client: ControlClient) async throws -> String? {
            guard let app else { return nil }
            let list = try await client.call(\.listApps)
            do {
                return try ListedApps(list.apps).one(AppNames.resolved(app)).id
            } catch let error as ControlError where error.code == .noSuchApp {
                return app
            }
        }

        /// In several replies, if they are more than one may have.
        private func newest(
            _ limit: Int, _ client: ControlClient, of app: String?, token: String?
        ) async throws -> EventList {
            var events: [EventReport] = []
            while events.count < limit {
                let query = LogQuery(
                    before: events.last?.number ?? .max, limit: min(limit - events.count, LogQuery.maximumLimit),
                    app: app, all: all)
                let part = try await client.call(\.log, query: query, token: token).events
                events += part.reversed()
                if part.count < query.limit { break }
            }
            return EventList(events: events.reversed())
        }

        private func show(_ events: [EventReport]) throws {
            for event in events {
                if output.json {
                    try Output.standard.jsonLine(event)
                } else {
                    Output.standard.line(event.line(Paint(.standard)))
                }
            }
        }
    }

    struct Verify: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check that no event was changed, removed or truncated.",
            discussion: """
                Each event names the one before it and is signed. With a saved head you can later detect that the whole log was rewritten. Asks for the owner's passcode, except for root.

                  applocker log verify
                  applocker log verify --head 1204:5f1c...
                """)

        @Option(help: ArgumentHelp("A head that was printed earlier.", valueName: "number:hash")) var head: String?
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let result = try await owner.whereNeeded { token in
                try await client.call(\.verifyLog, query: VerifyLogQuery(head: head), token: token)
            }
            if output.json {
                try Output.standard.json(result)
            } else if result.isWhole {
                Output.standard.line(result.sentence)
                Output.standard.line("Head: \(result.head)")
            } else {
                Output.standard.line(Paint(.standard).alarm(result.sentence))
            }
            if !result.isWhole { throw ExitStatusError(status: .refused) }
        }
    }
}

extension EventReport {
    /// "2026-01-31 14:05:09  launch_denied    Firefox …"
    func line(_ paint: Paint) -> String {
        let kind = kind.terminalSafe.padded(to: 16)
        let shown =
            switch self.kind {
            case "launch_denied", "read_denied", "passcode_wrong", "gate_away", "marks_missing", "monitoring_off":
                paint.warning(kind)
            default: kind
            }
        return "\(paint.faint(TimeText.local(time)))  \(shown)  \(sentence.terminalSafe)"
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
