import ArgumentParser
import LocalControl
import WireProtocol

struct HouseholdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "household",
        abstract: "What all devices of the household share: undo what a stolen one did.",
        subcommands: [Restore.self])

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring back what a revoked device replaced or removed.",
            discussion: """
                Revoke the device first, with `applocker devices revoke`. This then lists the notes, moments, photos and \
                files that it replaced or removed, asks, and brings them back on every device. What a device that \
                belongs to the household wrote since then stays; of notes and moments the earlier version is added \
                beside it.

                TIME is a day, a day and a time by this computer's clock, or how long ago it was. What counts is \
                when a change arrived at this computer. Earlier versions are kept for 30 days.

                  applocker household restore --before 3h --dry-run            only list what would come back
                  applocker household restore --before "2026-11-20 14:30"
                  applocker household restore --before 2d --device "Anna's phone"
                """)

        @Option(
            help: ArgumentHelp(
                "Undo what was done since then: 2026-11-20, \"2026-11-20 14:30\", 3h, 2d.", valueName: "time"))
        var before: PastTimeArgument
        @Option(
            help: "Only what this revoked device did: its name, its id or the first digits of it.")
        var device: String?
        @Flag(help: "Only list what would come back.") var dryRun = false
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = OwnerSession(client: connection.client, passcodes: passcode.source)
            let own = try await passcode.source.existing()
            let trial = try await restore(owner, own, isTrial: true)
            if !output.json { Output.standard.lines(trial.lines(Paint(.standard))) }
            guard !dryRun, trial.restored + trial.copied > 0 else {
                if output.json { try Output.standard.json(trial) }
                return
            }
            let count = trial.restored + trial.copied
            try await Confirmation.require(
                count == 1 ? "Restore 1 item?" : "Restore \(count) items?", isGiven: yes)
            // In a session of its own: none is open while the question waits.
            let report = try await restore(owner, own, isTrial: false)
            if output.json { return try Output.standard.json(report) }
            Output.standard.line(report.sentence)
        }

        private func restore(_ owner: OwnerSession, _ own: Passcode, isTrial: Bool) async throws -> RestoreReport {
            try await owner.open(with: own) { token in
                try await owner.client.call(
                    .restoreChanges, token: token,
                    body: RestoreRequest(
                        passcode: own.text, before: before.time, device: device, isTrial: isTrial))
            }
        }
    }
}

extension RestoreReport {
    var sentence: String {
        let kept = copied == 0 ? "" : " \(copied) of them as a second one beside newer work."
        return "Restored \(restored + copied) \(restored + copied == 1 ? "item" : "items").\(kept)"
    }

    func lines(_ paint: Paint) -> [String] {
        guard !items.isEmpty else {
            return ["Nothing to restore: no revoked device replaced or removed anything since then."]
        }
        var table = Table(["KIND", "TITLE BEFORE", "NOW", "BY", "SINCE", "RESTORE"])
        for item in items {
            let outcome =
                switch item.outcome {
                case .restored: "yes"
                case .copied: "as a copy: it was changed or removed elsewhere since"
                case .left: "no: \(item.reason ?? "")"
                }
            table.add([
                item.kind.rawValue, item.title, item.state.rawValue, item.deviceName, TimeText.local(item.time),
                outcome,
            ])
        }
        let more = restored + copied + left - items.count
        return table.lines(paint) + (more > 0 ? ["… and \(more) more."] : [])
    }
}
