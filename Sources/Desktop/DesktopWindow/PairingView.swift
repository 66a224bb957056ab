import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization
import QRCode

/// Pairs a phone or a computer: code or link, words, confirmation.
@MainActor
final class PairingView {
    private static let template = Template("pairing-view", of: adw_bin_get_type())
    /// Points of a module's side.
    private static let scale = 5

    private let screen = PairingView.template.make()
    private let model: DevicesModel
    private let offersComputers: Bool
    private var shownLink = ""

    var widget: Widget { screen.widget }

    init(_ model: DevicesModel, offersComputers: Bool = true) {
        self.model = model
        self.offersComputers = offersComputers
        let pairing = model.pairing
        Signals.connect(screen["start"].raw, "clicked") { [unowned self] in start(forComputer: false) }
        Signals.connect(screen["start_anyway"].raw, "clicked") { [unowned self] in
            start(forComputer: false, isChecked: false)
        }
        Signals.connect(screen["start_computer"].raw, "clicked") { [unowned self] in start(forComputer: true) }
        Signals.connect(screen["cancel"].raw, "clicked") { Task { await pairing.cancel() } }
        Signals.connect(screen["confirm"].raw, "clicked") {
            Task {
                await pairing.confirm()
                await model.load()
            }
        }
        observe(self) { $0.update() }
    }

    private func start(forComputer: Bool, isChecked: Bool = true) {
        let address = screen["address"].text
        let pairing = model.pairing
        Task {
            await pairing.start(
                address: address.isEmpty ? nil : address, forComputer: forComputer, isChecked: isChecked)
        }
    }

    private func update() {
        let isForComputer = model.pairing.isForComputer
        let isElsewhere = model.canConnect && !offersComputers
        let advice = isElsewhere ? " " + localized("Connect this computer to one on the page Devices.") : ""
        screen["hub"].setText(model.hub + advice)
        var (message, words, link) = ("", "", "")
        var ways: [String] = []
        switch model.pairing.state {
        case .idle: break
        case .checking: message = localized("Checking whether a phone can reach the hub…")
        case .starting: message = localized("Making the link…")
        case .unreachable(let problem, let lines):
            message = problem
            ways = lines
        case .waiting(let found):
            link = found
            message = localized(
                isForComputer
                    ? """
                    Copy this link to the other computer within five minutes: there it belongs on the page Devices, \
                    below “Join another computer”. It does not join before you confirm it.
                    """
                    : "Scan this with the phone’s camera within five minutes. No device joins before you confirm it.")
        case .joined(let name, let found):
            message = localized("\(name) shows three words. Compare them:")
            words = found
        case .paired(let name): message = localized("\(name) is paired.")
        case .ended(let sentence): message = sentence
        }
        let isRunning = !link.isEmpty || !words.isEmpty || [.checking, .starting].contains(model.pairing.state)
        screen["message"].setText(message)
        screen["message"].setVisible(!message.isEmpty)
        screen["ways"].setText(ways.joined(separator: "\n"))
        screen["ways"].setVisible(!ways.isEmpty)
        screen["start_anyway"].setVisible(!ways.isEmpty)
        screen["words"].setText(words)
        screen["words"].setVisible(!words.isEmpty)
        screen["confirm"].setVisible(!words.isEmpty)
        screen["cancel"].setVisible(isRunning)
        screen["start"].setVisible(!isRunning && model.hasHub)
        screen["start_computer"].setVisible(!isRunning && model.hasHub && offersComputers)
        screen["address"].setVisible(!isRunning && model.hasHub)
        screen["link"].setText(isForComputer ? link : "")
        screen["link"].setVisible(isForComputer && !link.isEmpty)
        show(isForComputer ? "" : link)
    }

    private func show(_ link: String) {
        guard link != shownLink else { return }
        shownLink = link
        let texture = link.isEmpty ? nil : (try? QRCode(link)).map { QRTexture.make($0, scale: Self.scale) }
        gtk_picture_set_paintable(screen["code"].opaque, texture)
        if let texture { g_object_unref(UnsafeMutableRawPointer(texture)) }
        screen["code"].setVisible(texture != nil)
        // The button that had the focus is hidden now.
        if texture != nil { gtk_widget_grab_focus(screen["cancel"]) }
    }
}
