import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// The moments in the trash, which are restored or erased here.
@MainActor
final class MomentTrashView {
    private static let template = Template("moment-trash", of: gtk_box_get_type())

    private let screen = MomentTrashView.template.make()
    private let model: MomentTrashModel
    private let list: RowList<TrashedMoment>

    var widget: Widget { screen.widget }

    init(_ model: MomentTrashModel, window: @escaping () -> Widget, onBack: @escaping @MainActor () -> Void) {
        self.model = model
        func ask(_ erasure: MomentErasure?) {
            guard let erasure else { return }
            Dialogs.confirm(erasure.title, erasure.explanation, verb: localized("_Erase"), parent: window()) {
                Task { await model.erase(erasure) }
            }
        }
        list = RowList(screen["moments"]) { row, moment in
            row.show(title: moment.heading, subtitle: moment.detail)
            row.showSymbol(moment.hasPhotos ? "image-x-generic-symbolic" : "document-edit-symbolic")
            row.showButton(localized("Restore"), accessible: localized("Restore \(moment.heading)"))
            row.showMenu(
                "", accessible: localized("Actions for \(moment.heading)"), choices: [localized("Erase…")])
            row.onButton = { Task { await model.restore(moment.id) } }
            row.onChoice = { _ in ask(model.erasure(of: moment.id)) }
        }
        let days = model.keptFor
        screen["explanation"].setText(
            localized(
                days, one: "Moments are erased one day after they were moved here.",
                other: "Moments are erased \(days) days after they were moved here."))
        Signals.connect(screen["back"].raw, "clicked") { onBack() }
        Signals.connect(screen["empty"].raw, "clicked") { ask(model.erasureOfAll) }
        Signals.connect(screen["more"].raw, "clicked") { model.showMore() }
        observe(self) { $0.update() }
    }

    private func update() {
        list.update(model.moments)
        screen["explanation"].setVisible(model.isEmpty == false)
        screen["empty"].setVisible(model.isEmpty == false)
        screen["more"].setVisible(model.hasMore)
        screen["nothing"].setVisible(model.isEmpty == true)
        for name in ["empty", "moments"] { screen[name].setSensitive(model.isChangeable) }
    }
}
