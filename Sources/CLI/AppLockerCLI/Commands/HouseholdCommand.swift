import ArgumentParser
import ControlAPI
import LocalControl

struct HouseholdCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "household",
        abstract: "Restore what a stolen device changed.",
        subcommands: [Restore.self])

    struct Restore: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Restore what a revoked device replaced or removed.",
            discussion: """
                Revoke the device first, with `applocker devices revoke`. This command then lists the notes, moments, photos and files that it replaced or removed, asks, and restores them on every device. Later changes by devices of the household stay; of notes and moments the earlier version is added beside them. TIME is a day, a day and a time by this computer's clock, or how long ago it was. The time of a change is when it arrived at this computer. Earlier versions are kept for 30 days.

                  applocker household restore --before 3h --dry-run            only list what would be restored
                  applocker household restore --before "2026-11-20 14:30"
                  applocker household restore --before 2d --device "Anna's phone"
                """)

        @Option(
            help: ArgumentHelp(
                "Undo changes since then: 2026-11-20, \"2026-11-20 14:30\", 3h, 2d.", valueName: "time"))
        var before: PastTimeArgument
        @Option(
            help: "Only what this revoked device did: its name, its id or the first digits of it.")
        var device: String?
        @Flag(help: "Only list what would be restored.") var dryRun = false
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let own = try await passcodes.existing()
            let trial = try await restore(own, isTrial: true)
            if !output.json { Output.standard.lines(trial.lines(Paint(.standard))) }
            guard !dryRun, trial.restored + trial.copied > 0 else {
                if output.json { try Output.standard.json(trial) }
                return
            }
            let count = trial.restored + trial.copied
            try await Confirmation.require(
                count == 1 ? "Restore 1 item?" : "Restore \(count) items?", isConfirmed: yes)
            // In a session of its own: no session is open during the question.
            let report = try await restore(own, isTrial: false)
            if output.json { return try Output.standard.json(report) }
            Output.standard.line(report.sentence)
        }

        private func restore(_ own: Passcode, isTrial: Bool) async throws -> RestoreReport {
            try await owner.open(with: own) { token in
                try await client.call(
                    \.restoreChanges, token: token,
                    body: RestoreRequest(
                        passcode: own.text, before: before.time, device: device, isTrial: isTrial))
            }
        }
    }
}

extension RestoreReport {
    var sentence: String {
        let kept = copied == 0 ? "" : " \(copied) of them as a copy beside a newer version."
        return "Restored \(restored + copied) \(restored + copied == 1 ? "item" : "items").\(kept)"
    }

    func lines(_ paint: Paint) -> [String] {
        guard !items.isEmpty else {
            return ["Nothing to restore: no revoked device has replaced or removed anything since then."]
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
