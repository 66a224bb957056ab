import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport

/// The devices of the household.
@MainActor
final class DevicesPage: Page {
    private static let template = Template("devices-page", of: adw_bin_get_type())

    private let screen = DevicesPage.template.make()
    private let model: DevicesModel
    private let list: RowList<DeviceItem>
    private let pairing: PairingView

    var widget: Widget { screen.widget }

    init(_ model: DevicesModel, window: @escaping () -> Widget) {
        self.model = model
        pairing = PairingView(model)
        list = RowList(screen["devices"]) { row, device in
            row.show(title: device.name, subtitle: device.detail)
            row.showSymbol(device.isCompanion ? "phone-symbolic" : "computer-symbolic")
            let choices = device.isThisComputer ? ["Rename…"] : ["Rename…", "Revoke…"]
            row.showMenu("", accessible: "Actions for \(device.name)", choices: choices)
            row.onChoice = { choice in
                if choice == 0 {
                    Dialogs.askText(
                        "Rename \(device.name)", "Name", text: device.name, verb: "_Rename", parent: window()
                    ) { name in Task { await model.rename(device.id, to: name) } }
                } else {
                    Dialogs.confirm(
                        "Revoke \(device.name)?",
                        "It loses access for good. Every key that it had is replaced, on all other devices.",
                        verb: "_Revoke", parent: window()
                    ) { Task { await model.revoke(device.id) } }
                }
            }
        }
        adw_bin_set_child(screen["pairing"].cast(to: AdwBin.self), pairing.widget)
        Signals.connect(screen["show_devices"].raw, "clicked") { Task { await model.showDevices() } }
        observe(self) { $0.update() }
    }

    func open() async { await model.load() }

    private func update() {
        let hasProblem = !model.problem.isEmpty
        screen["problem"].setVisible(hasProblem)
        adw_status_page_set_description(screen["problem"].opaque, escapedMarkup(model.problem))
        screen["list_group"].setVisible(!hasProblem && !model.devices.isEmpty)
        screen["pair_group"].setVisible(!hasProblem)
        list.update(model.devices)
    }
}
