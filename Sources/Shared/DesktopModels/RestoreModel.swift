import ControlAPI
import Localization
public import Observation

/// Restores what revoked devices replaced or removed.
@MainActor @Observable
public final class RestoreModel {
    /// Of what would be restored.
    public let confirmation = Confirmation<String>()

    private let context: DesktopContext
    /// Items that the question names; it counts the others.
    private static let itemsShown = 8

    init(_ context: DesktopContext) { self.context = context }

    /// Asks for the passcode and for the confirmation, then restores. Newer versions of devices that belong to the
    /// household stay.
    ///
    /// - Parameter days: what revoked devices did in the last days, each of 24 hours.
    public func restore(days: Int) async {
        guard confirmation.question == nil else { return }
        let before = context.time.wallClock() - Double(days) * 86_400
        let title = localized("Undo a revoked device's changes")
        await context.attempt {
            let prompt = PasscodeQuestion(
                title: title, explanation: localized("Enter the passcode of AppLocker on this computer."))
            let (passcode, trial) = try await context.withSessionAndPasscode(prompt) { control, token, passcode in
                let request = RestoreRequest(passcode: passcode, before: before, isTrial: true)
                return (passcode, try await control.call(\.restoreChanges, token: token, body: request))
            }
            guard trial.restored + trial.copied > 0 else {
                return context.announce(
                    localized("Nothing to restore: no revoked device has replaced or removed anything since then."))
            }
            guard await confirmation.ask(Self.text(trial)) else { return }
            let report = try await context.session.perform(title) { [control = context.control] token in
                try await control.call(
                    \.restoreChanges, token: token,
                    body: RestoreRequest(passcode: passcode, before: before, isTrial: false))
            }
            let count = report.restored + report.copied
            context.announce(localized(count, one: "Restored \(count) item.", other: "Restored \(count) items."))
        }
    }

    private static func text(_ report: RestoreReport) -> String {
        let found = report.items.filter { $0.outcome != .left }
        var lines = found.prefix(itemsShown).map { item in
            let line =
                switch item.state {
                case .changed: localized("“\(item.title)”, changed by \(item.deviceName)")
                case .removed: localized("“\(item.title)”, removed by \(item.deviceName)")
                }
            return item.outcome == .copied ? localized("\(line): as a copy beside a newer version") : line
        }
        let more = report.restored + report.copied - lines.count
        if more > 0 { lines.append(localized("and \(more) more")) }
        return lines.joined(separator: "\n")
    }
}
