import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// The first run: five steps.
@MainActor
final class FirstRunView {
    private static let template = Template("first-run", of: adw_bin_get_type())

    private let screen = FirstRunView.template.make()
    private let model: FirstRunModel
    private let pairing: PairingView
    private let recovery: RecoveryView
    private var choices: [AppChoice] = []
    private var shownStep: FirstRunModel.Step?

    var widget: Widget { screen.widget }
    var search: Widget? { model.step == .apps ? screen["search"] : nil }

    /// - Parameters:
    ///   - onTrial: the user wants to start an app, to see the prompt.
    ///   - onFinish: the user wants the window's pages.
    init(
        _ model: FirstRunModel, window: @escaping () -> Widget, announce: @escaping (String) -> Void,
        onTrial: @escaping (String) -> Void, onFinish: @escaping () -> Void
    ) {
        self.model = model
        pairing = PairingView(model.devices, offersComputers: false)
        recovery = RecoveryView(model.recovery, window: window, announce: announce)
        adw_bin_set_child(screen["pairing"].cast(to: AdwBin.self), pairing.widget)
        adw_bin_set_child(screen["recovery"].cast(to: AdwBin.self), recovery.widget)
        Signals.connect(screen["next"].raw, "clicked") { [unowned self] in next() }
        Signals.connect(screen["skip"].raw, "clicked") { Task { await model.skip() } }
        Signals.connect(screen["passcode"].raw, "changed") { [unowned self] in showStrength() }
        Signals.connect(screen["repeated"].raw, "changed") { [unowned self] in showStrength() }
        for name in ["passcode", "repeated"] {
            Signals.connect(screen[name].raw, "entry-activated") { [unowned self] in next() }
        }
        Signals.connect(screen["search"].raw, "search-changed") { [unowned self] in
            model.search = screen["search"].text
        }
        Signals.connectWidget(screen["grid"].raw, "child-activated") { [unowned self] child in
            guard let choice = choices.first(where: { $0.widget == child }) else { return }
            model.toggle(choice.id)
        }
        Signals.connect(screen["trial"].raw, "clicked") { if let trial = model.trial { onTrial(trial.id) } }
        Signals.connect(screen["finish"].raw, "clicked") { onFinish() }
        NumberRow.connect(screen["inactivity"], .inactivity, model.settings, owner: self)
        NumberRow.connect(screen["vault_idle"], .vaultIdle, model.settings, owner: self)
        observe(self) { $0.update() }
        observe(self) { $0.showChoices($0.model.choices) }
        showStrength()
    }

    private func next() {
        guard model.step == .passcode else {
            Task { await model.next() }
            return
        }
        let (passcode, repeated) = (screen["passcode"].text, screen["repeated"].text)
        Task {
            await model.choose(passcode: passcode, repeated: repeated)
            if model.step != .passcode { for name in ["passcode", "repeated"] { screen[name].text = "" } }
        }
    }

    private func showStrength() {
        let strength = PasscodeStrength(screen["passcode"].text)
        gtk_level_bar_set_value(screen["strength"].opaque, strength.fraction)
        screen["strength_text"].setText(strength.sentence)
        updateNext()
    }

    private func updateNext() {
        let accepts =
            model.step != .passcode
            || PasscodeStrength(screen["passcode"].text).isAccepted && !screen["repeated"].text.isEmpty
        screen["next"].setSensitive(accepts && !model.isWorking)
        screen["skip"].setSensitive(!model.isWorking)
    }

    private func update() {
        let step = model.step
        screen["refusal"].setText(model.refusal)
        screen["refusal"].setVisible(!model.refusal.isEmpty)
        screen["skip"].setVisible(step.canBeSkipped)
        screen["next"].setVisible(step != .done)
        if step == .apps, model.chosenCount > 0 {
            let count = model.chosenCount
            screen["next"].setButtonLabel(localized(count, one: "_Lock \(count) App", other: "_Lock \(count) Apps"))
        } else {
            screen["next"].setButtonLabel(localized("_Continue"))
        }
        screen["trial"].setVisible(model.trial != nil)
        if let trial = model.trial { screen["trial"].setButtonLabel(localized("_Start \(trial.name) Now")) }
        updateNext()
        guard step != shownStep else { return }
        shownStep = step
        let words = Self.words(step)
        let number = step == .done ? "" : localized("Step \(step.rawValue + 1) of 5")
        adw_window_title_set_title(screen["step_title"].opaque, localized("Set up AppLocker"))
        adw_window_title_set_subtitle(screen["step_title"].opaque, number)
        gtk_image_set_from_icon_name(screen["step_icon"].opaque, words.icon)
        screen["heading"].setText(words.title)
        screen["explanation"].setText(words.explanation)
        screen.show("\(step)", in: "steps")
        focusFirst(step)
    }

    /// The keyboard starts where the step starts.
    private func focusFirst(_ step: FirstRunModel.Step) {
        switch step {
        case .passcode: gtk_widget_grab_focus(screen["passcode"])
        case .apps: gtk_widget_grab_focus(screen["search"])
        case .absence: gtk_widget_grab_focus(screen["inactivity"])
        case .phone, .recovery: gtk_widget_grab_focus(screen["next"])
        case .done: gtk_widget_grab_focus(screen[model.trial == nil ? "finish" : "trial"])
        }
    }

    private func showChoices(_ apps: [FirstRunModel.Choice]) {
        let grid = screen["grid"].opaque
        if choices.map(\.id) != apps.map(\.id) {
            for choice in choices { gtk_flow_box_remove(grid, choice.widget) }
            choices = apps.map { app in AppChoice(app) { [unowned self] in model.toggle(app.id) } }
            for choice in choices { gtk_flow_box_append(grid, choice.widget) }
        }
        for (choice, app) in zip(choices, apps) { choice.setChosen(app.isChosen) }
    }

    private static func words(_ step: FirstRunModel.Step) -> (icon: String, title: String, explanation: String) {
        switch step {
        case .passcode:
            (
                "applocker-locked-symbolic", localized("Choose a passcode"),
                localized("It unlocks your apps and opens what AppLocker seals. Nobody can read it from this computer.")
            )
        case .apps:
            (
                "view-app-grid-symbolic", localized("Which apps are locked?"),
                localized("AppLocker holds each launch of these apps until you enter the passcode.")
            )
        case .absence:
            (
                "weather-clear-night-symbolic", localized("When you are away"),
                localized(
                    "Sleep, a locked screen and another user’s session always lock everything. So does inactivity.")
            )
        case .phone:
            (
                "phone-symbolic", localized("Your phone"),
                localized("A paired phone shows each attempt at once, and can approve a launch from anywhere.")
            )
        case .recovery:
            (
                "document-print-symbolic", localized("If you forget the passcode"),
                localized("A printed code sets a new one. Without it, nobody can open what is sealed.")
            )
        case .done:
            (
                "emblem-ok-symbolic", localized("AppLocker is ready"),
                localized("Start a locked app to see how it asks for the passcode.")
            )
        }
    }
}

/// An app in the grid of the first run.
@MainActor
private final class AppChoice {
    private static let template = Template("app-choice", of: gtk_flow_box_child_get_type())

    let id: String
    private let screen = AppChoice.template.make()
    private let image: AppImage
    private var isUpdating = false

    var widget: Widget { screen.widget }

    init(_ app: FirstRunModel.Choice, onToggle: @escaping @MainActor () -> Void) {
        id = app.id
        image = AppImage(screen["icon"], size: 48)
        image.show(app.icon)
        screen["title"].setText(app.name)
        screen["toggle"].setAccessibleLabel(app.name)
        screen.widget.setAccessibleLabel(app.name)
        gtk_widget_set_tooltip_text(screen["toggle"], app.name)
        Signals.connect(screen["toggle"].raw, "toggled") { [unowned self] in
            if !isUpdating { onToggle() }
        }
    }

    func setChosen(_ isChosen: Bool) {
        isUpdating = true
        gtk_toggle_button_set_active(screen["toggle"].cast(to: GtkToggleButton.self), isChosen ? 1 : 0)
        isUpdating = false
    }
}
