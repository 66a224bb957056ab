import CGtk4
import ControlAPI
import GtkSupport
import Localization

/// The window that asks for the passcode. It is created once and kept hidden, so that it appears without delay; it
/// draws `PromptScene`s and reports the user's input.
@MainActor
final class PromptWindow {
    /// Right after the window has appeared, keys may have been meant for the window that had the focus before, so Enter
    /// is ignored.
    static let enterIgnored: Duration = .milliseconds(400)

    /// The user pressed Unlock or Enter. The window keeps no copy of the passcode.
    var onUnlock: (_ prompt: String, _ passcode: String, _ grant: GrantRequest) -> Void = { _, _, _ in }
    /// The user pressed Cancel or Escape or closed the window; nil if only a notice was shown.
    var onCancel: (_ prompt: String?) -> Void = { _ in }

    let parts: PromptParts
    private let colors: ColorScheme
    private var scene: PromptScene?
    private var choices: [GrantChoice] = []
    private var acceptsEnterFrom = ContinuousClock.now
    private var pause = TypingPause()
    /// The scene replaced the one in which somebody was typing.
    private var interruptsTyping = false
    private var shaking: Task<Void, Never>?

    /// GTK must have been initialised.
    init() {
        parts = PromptParts()
        colors = ColorScheme()
        connect()
        gtk_widget_realize(parts.window)
        if let surface = x11Surface { cgtk_x11_be_dialog(surface) }
    }

    var isShown: Bool { gtk_widget_get_visible(parts.window) != 0 }

    /// Draws a scene; nil hides the window.
    func show(_ scene: PromptScene?) {
        defer { self.scene = scene }
        guard let scene else {
            clearPasscode()
            parts.window.setVisible(false)
            return
        }
        let isNew = self.scene.map { $0.prompt != scene.prompt || $0.mode == .notice } ?? true
        if isNew, self.scene != scene { begin(scene) }
        parts.heading.setText(scene.heading)
        parts.requester.setText(scene.requester)
        parts.capture.setText(scene.capture)
        parts.capture.setVisible(!scene.capture.isEmpty)
        parts.remaining.setText(scene.remaining)
        parts.others.setText(scene.othersWaiting)
        gtk_progress_bar_set_fraction(parts.time.opaque, scene.remainingFraction)
        // GTK's text field must lose the focus before it is disabled. No button gets the focus instead: a user who is
        // still typing must not press it unintentionally.
        if scene.mode == .lockedOut, self.scene?.mode != .lockedOut {
            gtk_window_set_focus(parts.window.cast(to: GtkWindow.self), nil)
        }
        parts.setMode(scene.mode, acceptsInput: !pause.isOn(at: .now), verb: scene.verb)
        if !scene.offersGrants { parts.durationRow.setVisible(false) }
        if interruptsTyping, scene.mode == .asking, scene.message.isEmpty {
            let text = localized("The launch before this one was settled. This is another one.")
            parts.setMessage(text, isRefusal: false)
        } else {
            parts.setMessage(scene.message, isRefusal: !scene.message.isEmpty)
        }
        if !isNew, let before = self.scene { react(from: before, to: scene) }
        if !isShown { present() }
    }

    /// Shows a launch for the first time.
    private func begin(_ scene: PromptScene) {
        pause.changePrompt(hasText: hasPasscode, at: .now)
        interruptsTyping = pause.isOn(at: .now)
        clearPasscode()
        stopShaking()
        acceptsEnterFrom = .now + Self.enterIgnored
        choices = GrantChoice.all(
            defaultSeconds: scene.defaultGrantSeconds, offersThisLaunch: scene.offersThisLaunch)
        parts.setChoices(
            choices.map(\.title),
            selected: GrantChoice.defaultIndex(of: choices, defaultSeconds: scene.defaultGrantSeconds))
        parts.icon.show(scene.icon, name: scene.name)
        parts.path.setText(scene.path)
        parts.path.setVisible(!scene.path.isEmpty)
        gtk_widget_set_tooltip_text(parts.path, scene.path)
        cgtk_set_placeholder(parts.passcode, scene.passcodeHint)
        cgtk_set_accessible_label(parts.passcode, scene.passcodeHint)
        gtk_window_set_title(parts.window.cast(to: GtkWindow.self), scene.heading)
        switch scene.mode {
        case .asking, .checking: gtk_widget_grab_focus(parts.passcode)
        case .notice: gtk_widget_grab_focus(parts.cancel)
        case .lockedOut: break
        }
    }

    private func react(from before: PromptScene, to scene: PromptScene) {
        if scene.refusals > before.refusals {
            clearPasscode()
            shake()
        }
        if scene.mode == .asking, before.mode == .lockedOut { gtk_widget_grab_focus(parts.passcode) }
    }

    private func connect() {
        Signals.connectKeys(parts.window) { [unowned self] in pause.key(at: .now) }
        Signals.connect(parts.passcode.raw, "activate") { [unowned self] in unlock(byEnter: true) }
        Signals.connect(parts.passcode.raw, "changed") { [unowned self] in updateUnlock() }
        Signals.connect(parts.unlock.raw, "clicked") { [unowned self] in unlock(byEnter: false) }
        Signals.connect(parts.cancel.raw, "clicked") { [unowned self] in cancel() }
        Signals.connectClose(parts.window) { [unowned self] in cancel() }
    }

    private func unlock(byEnter: Bool) {
        guard let scene, scene.mode == .asking, let prompt = scene.prompt else { return }
        if pause.isOn(at: .now) || byEnter && .now < acceptsEnterFrom {
            clearPasscode()
            return
        }
        let passcode = String(cString: gtk_editable_get_text(parts.passcode.opaque))
        guard !passcode.isEmpty else { return }
        let selected = Int(gtk_drop_down_get_selected(parts.duration.opaque))
        guard choices.indices.contains(selected) else { return }
        clearPasscode()
        pause.finishTyping()
        onUnlock(prompt, passcode, choices[selected].grant)
    }

    private func cancel() {
        guard let scene else { return }
        clearPasscode()
        pause.finishTyping()
        onCancel(scene.prompt)
    }

    /// GTK keeps the text of a password entry in locked memory, and overwrites deleted text.
    private func clearPasscode() {
        gtk_editable_set_text(parts.passcode.opaque, "")
        updateUnlock()
    }

    private var hasPasscode: Bool { gtk_editable_get_text(parts.passcode.opaque).pointee != 0 }

    private func updateUnlock() { parts.unlock.setSensitive(hasPasscode) }

    /// No movement if animations are disabled; the message has the same content.
    private func shake() {
        guard cgtk_animates() != 0 else { return }
        stopShaking()
        gtk_widget_add_css_class(parts.content, PromptStyle.shakeClass)
        shaking = Task { [weak self] in
            try? await Task.sleep(for: PromptStyle.shakeDuration)
            if !Task.isCancelled { self?.stopShaking() }
        }
    }

    private func stopShaking() {
        shaking?.cancel()
        shaking = nil
        gtk_widget_remove_css_class(parts.content, PromptStyle.shakeClass)
    }
}

extension PromptWindow {
    private var x11Surface: OpaquePointer? {
        guard let surface = gtk_native_get_surface(parts.window.opaque),
            cgtk_is_x11(gdk_surface_get_display(surface)) != 0
        else { return nil }
        return surface
    }

    /// Raises and focuses the window. On Wayland the compositor decides both.
    private func present() {
        let window = parts.window.cast(to: GtkWindow.self)
        guard let surface = x11Surface else { return gtk_window_present(window) }
        // Without a current time, focus-stealing prevention uses the time of the last key press in this window.
        gdk_x11_surface_set_user_time(surface, gdk_x11_get_server_time(surface))
        gtk_window_present(window)
        let scale = gdk_surface_get_scale_factor(surface)
        var size = GtkRequisition()
        gtk_widget_get_preferred_size(parts.window, nil, &size)
        cgtk_x11_center_unmanaged(surface, size.width * scale, size.height * scale)
        cgtk_x11_come_forward(surface)
    }
}
