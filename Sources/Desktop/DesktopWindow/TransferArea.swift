import CAdwaita
import CGtk4
import DesktopModels
import DesktopSession
import GtkSupport
import Localization

/// The progress of a transfer, with a button that stops it, and then what it did.
@MainActor
final class TransferArea {
    private static let template = Template("transfer-area", of: adw_bin_get_type())
    /// How many sentences are shown.
    private static let most = 20

    private let screen = TransferArea.template.make()
    private let bin: Widget

    /// - Parameters:
    ///   - bin: an AdwBin, which is hidden while there is nothing to show.
    ///   - onCancel: stops the transfer.
    init(in bin: Widget, onCancel: @escaping @MainActor () -> Void) {
        self.bin = bin
        adw_bin_set_child(bin.cast(to: AdwBin.self), screen.widget)
        Signals.connect(screen["cancel"].raw, "clicked") { onCancel() }
    }

    /// - Parameter outcome: one sentence, and one for each file that was skipped.
    func show(_ work: TransferWork.Step?, _ outcome: [String]) {
        bin.setVisible(work != nil || !outcome.isEmpty)
        screen["working"].setVisible(work != nil)
        if let work {
            screen["title"].setText(ShownLine.plain(work.title))
            gtk_progress_bar_set_fraction(screen["progress"].opaque, work.part)
        }
        screen["outcome_area"].setVisible(!outcome.isEmpty)
        let lines = Self.short(outcome).map { ShownLine.plain($0, maximumLength: 5_000) }
        screen["outcome"].setText(lines.joined(separator: "\n"))
    }

    private static func short(_ sentences: [String]) -> [String] {
        guard sentences.count > most else { return sentences }
        let others = sentences.count - most
        return sentences.prefix(most)
            + [localized(others, one: "And \(others) more.", other: "And \(others) more.")]
    }
}
