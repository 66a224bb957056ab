import CGtk4
import GtkSupport
import Localization

/// The window's widgets and their layout. They live as long as the process.
@MainActor
struct PromptParts {
    static let width: Int32 = 432

    let window: Widget
    /// Everything in the window; shakes on a wrong passcode.
    let content: Widget
    /// The warning that the screen is being recorded; screen readers read it aloud when it appears.
    let capture = Widget.label("capture", role: GTK_ACCESSIBLE_ROLE_ALERT)
    let icon = AppIcon()
    let heading = Widget.label("heading", role: GTK_ACCESSIBLE_ROLE_HEADING)
    let requester = Widget.label("requester")
    let path = Widget.label("path")
    let passcode = gtk_password_entry_new()!
    /// Screen readers read it aloud when it changes.
    let message = Widget.label("message", role: GTK_ACCESSIBLE_ROLE_ALERT)
    let duration = gtk_drop_down_new_from_strings(nil)!
    let durationRow: Widget
    /// Screen readers would read a button's own title with its underscore, so the titles are labels inside.
    private let cancelTitle = Widget.label("title")
    private let unlockTitle = Widget.label("title")
    let cancel = gtk_button_new()!
    let unlock = gtk_button_new()!
    let remaining = Widget.label("small")
    let others = Widget.label("small")
    let footer: Widget
    let time = gtk_progress_bar_new()!

    init() {
        let durationLabel = Widget.label("row-label")
        gtk_label_set_text_with_mnemonic(durationLabel.opaque, localized("_Keep unlocked for"))
        gtk_label_set_mnemonic_widget(durationLabel.opaque, duration)
        durationRow = .box(
            GTK_ORIENTATION_HORIZONTAL, spacing: 12, [durationLabel.aligned(GTK_ALIGN_START).expanding(), duration]
        ).styled("duration")

        let buttons = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 10, [cancel.expanding(), unlock.expanding()])
        gtk_box_set_homogeneous(buttons.cast(to: GtkBox.self), 1)
        footer = .box(
            GTK_ORIENTATION_HORIZONTAL, spacing: 12,
            [remaining.aligned(GTK_ALIGN_START).expanding(), others.aligned(GTK_ALIGN_END)])

        let identity = Widget.box(GTK_ORIENTATION_VERTICAL, [capture, icon.widget, heading, requester, path]).styled(
            "identity")
        let form = Widget.box(GTK_ORIENTATION_VERTICAL, [passcode, message, durationRow, buttons, footer])
            .styled("form")
        content = .box(GTK_ORIENTATION_VERTICAL, [identity, form]).styled("content")

        window = gtk_window_new()!.styled("unlock-prompt")
        style()
        assemble()
    }

    private func style() {
        for label in [capture, heading, requester, message] {
            gtk_label_set_wrap(label.opaque, 1)
            gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
            gtk_label_set_lines(label.opaque, 3)
            gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
            gtk_label_set_justify(label.opaque, GTK_JUSTIFY_CENTER)
            gtk_label_set_max_width_chars(label.opaque, 1)
        }
        gtk_label_set_ellipsize(path.opaque, PANGO_ELLIPSIZE_MIDDLE)
        gtk_label_set_max_width_chars(path.opaque, 1)
        gtk_editable_set_enable_undo(passcode.opaque, 0)
        cgtk_set_accessible_described_by(passcode, message)
        cgtk_set_accessible_label(time, localized("Time left"))
        gtk_button_set_child(cancel.cast(to: GtkButton.self), cancelTitle)
        gtk_button_set_child(unlock.cast(to: GtkButton.self), unlockTitle)
        gtk_label_set_mnemonic_widget(cancelTitle.opaque, cancel)
        gtk_label_set_mnemonic_widget(unlockTitle.opaque, unlock)
        _ = unlock.styled("unlock")
        _ = cancel.styled("cancel")
        _ = time.styled("time")
    }

    private func assemble() {
        // The whole window can be dragged. The empty title bar only makes GTK draw the frame.
        let handle = gtk_window_handle_new()!
        gtk_window_handle_set_child(handle.opaque, content)
        let whole = Widget.box(GTK_ORIENTATION_VERTICAL, [handle, time]).styled("whole")
        // The progress line must not extend beyond the rounded corners.
        gtk_widget_set_overflow(whole, GTK_OVERFLOW_HIDDEN)
        let titleBar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)!
        titleBar.setVisible(false)
        let window = window.cast(to: GtkWindow.self)
        gtk_window_set_titlebar(window, titleBar)
        gtk_window_set_child(window, whole)
        gtk_window_set_resizable(window, 0)
        // Compositors centre a dialog; on Wayland, modality makes the window one.
        gtk_window_set_modal(window, 1)
        gtk_window_set_icon_name(window, "applocker")
        gtk_window_set_default_widget(window, unlock)
        gtk_window_set_hide_on_close(window, 1)
        gtk_widget_set_size_request(whole, Self.width, -1)
    }

    func setMode(_ mode: PromptScene.Mode, acceptsInput: Bool, verb: String) {
        // Not insensitive while the daemon checks: the field keeps the focus for another attempt.
        gtk_editable_set_editable(passcode.opaque, mode == .asking && acceptsInput ? 1 : 0)
        passcode.setSensitive(mode == .asking || mode == .checking)
        passcode.setVisible(mode != .notice)
        message.setVisible(mode != .notice)
        durationRow.setVisible(mode != .notice)
        durationRow.setSensitive(mode != .checking)
        unlock.setVisible(mode != .notice)
        footer.setVisible(mode != .notice)
        time.setVisible(mode != .notice)
        Self.setTitle(unlockTitle, mode == .checking ? localized("Checking…") : verb)
        Self.setTitle(cancelTitle, localized(mode == .notice ? "_Close" : "_Cancel"))
    }

    /// The underscore marks the button's access key, which is pressed together with Alt.
    private static func setTitle(_ label: Widget, _ title: String) {
        guard String(cString: gtk_label_get_label(label.opaque)) != title else { return }
        gtk_label_set_text_with_mnemonic(label.opaque, title)
    }

    /// - Parameter isRefusal: it concerns what was entered.
    func setMessage(_ text: String, isRefusal: Bool) {
        message.setText(text)
        cgtk_set_accessible_label(message, text)
        cgtk_set_accessible_invalid(passcode, isRefusal ? 1 : 0)
        if isRefusal {
            gtk_widget_add_css_class(passcode, "refused")
        } else {
            gtk_widget_remove_css_class(passcode, "refused")
        }
    }

    func setChoices(_ titles: [String], selected: Int) {
        let model = gtk_string_list_new(nil)!
        for title in titles { gtk_string_list_append(model, title) }
        gtk_drop_down_set_model(duration.opaque, model)
        g_object_unref(UnsafeMutableRawPointer(model))
        gtk_drop_down_set_selected(duration.opaque, guint(selected))
    }
}
