import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// The devices of the household.
@MainActor
final class DevicesPage: Page {
    private static let template = Template("devices-page", of: adw_bin_get_type())

    private let screen = DevicesPage.template.make()
    private let model: DevicesModel
    private let list: RowList<DeviceItem>
    private let pairing: PairingView
    /// A file with the certificates of the hub; nil for the system's.
    private var certificates: String?
    private let window: () -> Widget
    private var shownQuestion: String?

    var widget: Widget { screen.widget }

    init(_ model: DevicesModel, window: @escaping () -> Widget) {
        self.model = model
        self.window = window
        pairing = PairingView(model)
        list = RowList(screen["devices"]) { row, device in
            row.show(title: device.name, subtitle: device.detail)
            row.showSymbol(device.isCompanion ? "phone-symbolic" : "computer-symbolic")
            let choices = [localized("Rename…")] + (device.isThisComputer ? [] : [localized("Revoke…")])
            row.showMenu("", accessible: localized("Actions for \(device.name)"), choices: choices)
            row.onChoice = { choice in
                if choice == 0 {
                    Dialogs.askText(
                        localized("Rename \(device.name)"), localized("Name"), text: device.name,
                        verb: localized("_Rename"), parent: window()
                    ) { name in Task { await model.rename(device.id, to: name) } }
                } else {
                    Dialogs.confirm(
                        localized("Revoke \(device.name)?"),
                        localized("It loses access for good. Every key that it had is replaced, on all other devices."),
                        verb: localized("_Revoke"), parent: window()
                    ) { Task { await model.revoke(device.id) } }
                }
            }
        }
        adw_bin_set_child(screen["pairing"].cast(to: AdwBin.self), pairing.widget)
        Signals.connect(screen["show_devices"].raw, "clicked") { Task { await model.showDevices() } }
        connectHub(window)
        Signals.connect(screen["restore"].raw, "clicked") { [unowned self] in chooseDays() }
        observe(self) { $0.update() }
    }

    func open() async { await model.load() }
    func refresh() async {
        await model.refresh()
        updateButtons()
    }

    private func update() {
        let hasProblem = !model.problem.isEmpty
        screen["problem"].setVisible(hasProblem)
        adw_status_page_set_description(screen["problem"].opaque, escapedMarkup(model.problem))
        screen["list_group"].setVisible(!hasProblem && !model.devices.isEmpty)
        screen["list_group"].setGroupDescription(model.alertNotice)
        screen["pair_group"].setVisible(!hasProblem && model.hasHub)
        screen["restore_group"].setVisible(!hasProblem && model.hasHub)
        screen["connect_group"].setVisible(!hasProblem && model.canConnect)
        screen["join_group"].setVisible(!hasProblem)
        screen["network_group"].setVisible(!hasProblem)
        screen["leave_group"].setVisible(!hasProblem && model.hasHub)
        screen["connect_group"].setGroupDescription(
            model.hub + " "
                + localized("A hub passes sealed records between your devices. It can read nothing."))
        screen["leave"].setRowTitle(model.hub)
        screen["joining"].setText(model.connection.joining)
        screen["joining"].setVisible(!model.connection.joining.isEmpty)
        updateButtons()
        list.update(model.devices)
        askToRestore()
    }

    // MARK: Changes of revoked devices

    private func chooseDays() {
        let choices: [(days: Int, verb: String)] = [
            (1, localized("Last _Day")), (7, localized("Last _Week")), (30, localized("Last _Month")),
        ]
        Dialogs.choose(
            localized("Undo a revoked device's changes"), localized("Of which time?"),
            choices: choices.map { .init(name: "\($0.days)", verb: $0.verb) }, parent: window()
        ) { [model] name in
            guard let days = Int(name) else { return }
            Task { await model.restore.restore(days: days) }
        }
    }

    private func askToRestore() {
        let confirmation = model.restore.confirmation
        guard confirmation.question != shownQuestion else { return }
        shownQuestion = confirmation.question
        guard let question = shownQuestion else { return }
        Dialogs.choose(
            localized("Restore these?"), question,
            choices: [.init(name: "restore", verb: localized("_Restore"), style: .suggested)], parent: window(),
            cancelled: { confirmation.answer(false) }, chosen: { _ in confirmation.answer(true) })
    }

    // MARK: The hub

    private func connectHub(_ window: @escaping () -> Widget) {
        let hub = model.connection
        for name in ["hub_address", "join_link"] {
            Signals.connect(screen[name].raw, "changed") { [unowned self] in updateButtons() }
        }
        Signals.connect(screen["set_up_hub"].raw, "clicked") {
            let (title, explanation, verb) = HostFix.startHub.question
            Dialogs.choose(
                title, explanation, choices: [.init(name: "set-up", verb: verb, style: .suggested)], parent: window()
            ) { _ in Task { await hub.setUpHere() } }
        }
        Signals.connect(screen["connect_hub"].raw, "clicked") { [unowned self] in
            let (address, invitation) = (screen["hub_address"].text, screen["hub_invitation"].text)
            Task { [weak self] in
                guard let network = self?.network else { return }
                if await hub.connect(to: address, invitation: invitation, by: network) { self?.clear() }
            }
        }
        Signals.connect(screen["join_household"].raw, "clicked") { [unowned self] in
            let link = screen["join_link"].text
            Task { [weak self] in
                guard let network = self?.network else { return }
                if await hub.join(link, by: network) { self?.clear() }
            }
        }
        Signals.connect(screen["choose_certificates"].raw, "clicked") {
            Dialogs.chooseFiles(
                localized("Choose the hub's certificates"), verb: localized("_Open"), several: false, parent: window()
            ) { [weak self] paths in self?.trust(paths[0]) }
        }
        Signals.connect(screen["forget_certificates"].raw, "clicked") { [unowned self] in trust(nil) }
        trust(nil)
        Signals.connect(screen["disconnect"].raw, "clicked") {
            Dialogs.confirm(
                localized("Leave the hub?"),
                localized("If no other computer is in the household, every paired device has to be paired again."),
                verb: localized("_Leave"), parent: window()
            ) { Task { await hub.disconnect() } }
        }
    }

    private var network: HubNetwork { HubNetwork(certificates: certificates, proxy: screen["proxy"].text) }

    private func trust(_ path: String?) {
        certificates = path
        screen["certificates"].setRowSubtitle(path ?? localized("Those of the system"))
        screen["forget_certificates"].setVisible(path != nil)
    }

    private func updateButtons() {
        screen["connect_hub"].setSensitive(!screen["hub_address"].text.isEmpty && !model.connection.isConnecting)
        screen["hub_here"].setVisible(model.connection.canStartHere())
        screen["set_up_hub"].setSensitive(!model.connection.isConnecting)
        screen["join_household"].setSensitive(!screen["join_link"].text.isEmpty && !model.connection.isJoining)
    }

    /// Link and invitation admit devices: none of them stays on the screen.
    private func clear() {
        for name in ["hub_address", "hub_invitation", "join_link"] { screen[name].text = "" }
    }
}
