import CAdwaita
import CGtk4
import DesktopModels
import DesktopSession
import Foundation
import GtkSupport
import Localization
import ProcessHardening

/// The window: pages in a sidebar, the padlock of the management session, and the first run.
@MainActor
final class MainWindow {
    private static let template = Template("window", of: adw_application_window_get_type())
    private static let rowTemplate = Template("navigation-row", of: gtk_list_box_row_get_type())
    /// How often a visible page is read again: with the focus, and without.
    private static let (period, idlePeriod) = (Duration.seconds(2), Duration.seconds(10))

    let screen = MainWindow.template.make()
    let models: WindowModels
    private let services: WindowServices
    private var pages: [(name: String, title: String, page: any Page)] = []
    private var shown = 0
    private var firstRun: FirstRunView?
    private var passcodes: PasscodeDialog?
    private var details: (any DetailWindow)?
    private var polling: Task<Void, Never>?
    private var ticking: Task<Void, Never>?
    private var watching: Task<Void, Never>?
    private var isClosing = false
    /// The window is hidden, and the program about to end.
    private var isEnding = false
    private let onClose: () -> Void
    private var shownAnnouncements = 0
    /// Of the last message.
    private var toasts: [OpaquePointer] = []

    var widget: Widget { screen.widget }

    /// - Parameter onClose: the window was closed and has finished.
    init(
        _ application: UnsafeMutablePointer<GtkApplication>, _ models: WindowModels, _ services: WindowServices,
        onClose: @escaping () -> Void
    ) {
        self.onClose = onClose
        self.models = models
        self.services = services
        gtk_window_set_application(widget.window, application)
        passcodes = PasscodeDialog(models.context.prompt, parent: widget) { [unowned self] in
            // The guided set-up has chosen it just now.
            firstRun == nil ? { [unowned self] in showRecovery() } : nil
        }
        makePages()
        connect()
        observe(self) { $0.updatePadlock() }
        observe(self) { $0.showAnnouncement() }
        observe(self) { $0.watchVault() }
        screen.show("main", in: "root")
        show(page: 0)
        polling = Task { [weak self] in await self?.poll() }
    }

    func present() {
        guard !isEnding else { return }
        gtk_window_present(widget.window)
        if firstRun == nil { gtk_widget_grab_focus(screen["navigation"]) }
    }

    private func makePages() {
        let window = { [unowned self] in widget }
        let announce = { [context = models.context] in context.announce($0) }
        let overview = OverviewPage(models.overview) { [unowned self] in apply($0) }
        let apps = AppsPage(
            models.apps,
            onDetails: { [unowned self] app in showDetails { AppDialog(app, models.apps, parent: widget) } },
            onCategory: { [unowned self] category in
                showDetails { CategoryDialog(category, models.apps, parent: widget) }
            })
        add("overview", localized("Overview"), "security-high-symbolic", overview)
        add("apps", localized("Apps"), "view-app-grid-symbolic", apps)
        add(
            "activity", localized("Activity"), "document-open-recent-symbolic",
            ActivityPage(models.activity, window: window, announce: announce))
        add(
            "notes", localized("Notes"), "document-edit-symbolic",
            NotesPage(models.notes, models.vault, models.context, window: window))
        add(
            "files", localized("Files"), "folder-documents-symbolic",
            FilesPage(models.files, models.vault, models.context, window: window))
        add(
            "moments", "Everline", "image-x-generic-symbolic", MomentsPage(models, window: window))
        add(
            "intruders", localized("Intruder Photos"), "camera-photo-symbolic",
            IntrudersPage(models.intruders, models.vault, window: window))
        add("devices", localized("Devices"), "phone-symbolic", DevicesPage(models.devices, window: window))
        add(
            "backup", localized("Backup and Recovery"), "drive-harddisk-symbolic",
            BackupPage(models.backup, models.recovery, window: window, announce: announce))
        add("settings", localized("Settings"), "preferences-system-symbolic", SettingsPage(models.settings))
    }

    private func add(_ name: String, _ title: String, _ icon: String, _ page: any Page) {
        let row = Self.rowTemplate.make()
        gtk_image_set_from_icon_name(row["icon"].opaque, icon)
        gtk_label_set_label(row["title"].opaque, title)
        gtk_list_box_append(screen["navigation"].opaque, row.widget)
        gtk_stack_add_named(screen["pages"].opaque, page.widget, name)
        pages.append((name, title, page))
    }

    private func connect() {
        Signals.connectWidget(screen["navigation"].raw, "row-activated") { [unowned self] row in
            guard let row else { return }
            show(page: Int(gtk_list_box_row_get_index(row.cast(to: GtkListBoxRow.self))))
        }
        Signals.connect(screen["back"].raw, "clicked") { [unowned self] in showNavigation() }
        Signals.connect(screen["padlock"].raw, "clicked") { [context = models.context] in
            Task {
                if context.session.token == nil {
                    await context.attempt { try await context.session.open() }
                } else {
                    await context.session.end()
                }
            }
        }
        Signals.connectCloseRequest(widget) { [unowned self] in close() }
        addAction("back") { [unowned self] in
            guard firstRun == nil, !pages[shown].page.goBack() else { return }
            showNavigation()
        }
        addAction("search") { [unowned self] in focusSearch() }
        addAction("lock-all") { [unowned self] in
            models.recovery.close()
            for case (_, _, let page as SettingsPage) in pages { page.clear() }
            Task { await models.overview.lockAll() }
        }
        addAction("new-note") { [unowned self] in
            show(pageNamed: "notes")
            (pages[shown].page as? NotesPage)?.startNew()
        }
        addAction("shortcuts") { [unowned self] in Informing.showShortcuts(parent: widget) }
        addAction("about") { [unowned self] in Informing.showAbout(parent: widget) }
        for number in pages.indices {
            addAction("page-\(number + 1)") { [unowned self] in show(page: number) }
        }
    }

    private func addAction(_ name: String, _ body: @escaping @MainActor () -> Void) {
        let action = g_simple_action_new(name, nil)!
        Signals.connectChange(UnsafeMutableRawPointer(action), "activate", body)
        g_action_map_add_action(OpaquePointer(widget), action)
        g_object_unref(UnsafeMutableRawPointer(action))
    }

    /// The accelerators of all actions.
    var accelerators: [(action: String, keys: String)] {
        [
            ("app.quit", "<Control>q"), ("win.search", "<Control>f"), ("win.lock-all", "<Control>l"),
            ("win.new-note", "<Control>n"), ("win.shortcuts", "<Control>question"), ("win.back", "<Alt>Left"),
        ] + pages.indices.map { ("win.page-\($0 + 1)", "<Alt>\(($0 + 1) % 10)") }
    }

    private func show(page number: Int) {
        if number != shown { pages[shown].page.leave() }
        shown = number
        let (name, title, page) = pages[number]
        let navigation = screen["navigation"].opaque
        gtk_list_box_select_row(navigation, gtk_list_box_get_row_at_index(navigation, Int32(number)))
        screen.show(name, in: "pages")
        adw_window_title_set_title(screen["page_title"].opaque, title)
        adw_leaflet_set_visible_child_name(screen["leaflet"].opaque, "content")
        Task { await page.open() }
    }

    /// Locks or unlocks files, after a question. Before the set-up has ended there is no vault for them.
    func open(_ paths: [String]) {
        guard !paths.isEmpty else { return }
        Task {
            if models.overview.isSetUp == nil { await models.overview.refresh() }
            guard !isEnding else { return }
            guard firstRun == nil, models.overview.isSetUp != false else {
                return models.context.announce(localized("Set up AppLocker first, and open the file then."))
            }
            details?.close()
            show(pageNamed: "files")
            (pages[shown].page as? FilesPage)?.offer(paths)
        }
    }

    private func show(pageNamed name: String) { show(page: pages.firstIndex { $0.name == name } ?? 0) }

    private func showRecovery() {
        details?.close()
        show(pageNamed: "settings")
        (pages[shown].page as? SettingsPage)?.showRecovery()
    }

    /// In a narrow window; in a wide one it is always shown.
    private func showNavigation() {
        adw_leaflet_navigate(screen["leaflet"].opaque, ADW_NAVIGATION_DIRECTION_BACK)
        gtk_widget_grab_focus(screen["navigation"])
    }

    private func focusSearch() {
        if let search = firstRun?.search ?? pages[shown].page.search { gtk_widget_grab_focus(search) }
    }

    /// Asks before it breaks off a transfer. Then it saves the note that is edited, and asks if that fails.
    private func close() -> Bool {
        guard !isClosing else { return true }
        isClosing = true
        if models.transfers.isRunning { askToStop() } else { Task { await saveAndEnd() } }
        return true
    }

    private func saveAndEnd() async {
        if await models.notes.finishEditing() { await end() } else { askToDiscardNote() }
    }

    private func askToStop() {
        Dialogs.choose(
            localized("Stop the transfer?"), localized("Files, photos or a backup are still being read or written."),
            choices: [.init(name: "stop", verb: localized("_Stop"), style: .destructive)],
            cancel: localized("_Keep Running"), parent: widget
        ) { [unowned self] in
            isClosing = false
        } chosen: { [unowned self] _ in
            Task {
                let remains = await models.transfers.stop()
                if remains.isEmpty { await saveAndEnd() } else { show(remains) }
            }
        }
    }

    /// What a stopped transfer left, before the window closes.
    private func show(_ remains: [String]) {
        Dialogs.choose(
            localized("The transfer was stopped"), remains.joined(separator: "\n"),
            choices: [.init(name: "close", verb: localized("_Close"))], cancel: localized("_Keep Open"), parent: widget
        ) { [unowned self] in
            isClosing = false
        } chosen: { [unowned self] _ in
            Task { await saveAndEnd() }
        }
    }

    private func askToDiscardNote() {
        Dialogs.choose(
            localized("Discard changes?"),
            localized("The note could not be saved. If you discard the changes, they are permanently lost."),
            choices: [.init(name: "discard", verb: localized("_Discard"), style: .destructive)],
            cancel: localized("_Keep Editing"), parent: widget
        ) { [unowned self] in
            isClosing = false
            show(pageNamed: "notes")
        } chosen: { [unowned self] _ in
            Task { await end() }
        }
    }

    /// Ends the session; then the program ends, and with it what it had in memory. The desktop starts it again when it is
    /// activated.
    private func end() async {
        isEnding = true
        widget.setVisible(false)
        polling?.cancel()
        ticking?.cancel()
        watching?.cancel()
        // A daemon that does not answer delays the end, and with it the next start, for two seconds only.
        await models.context.time.wait(atMost: .seconds(2)) { [models] in
            await models.devices.pairing.cancel()
            await models.context.session.end()
        }
        onClose()
    }

    private func poll() async {
        while !Task.isCancelled {
            await models.overview.refresh()
            if models.overview.isSetUp == false, firstRun == nil { startFirstRun() }
            // Whatever page is shown: a lock removes what the others have of it.
            await models.vault.refresh()
            if shown > 0, firstRun == nil { await pages[shown].page.refresh() }
            let isActive = gtk_window_is_active(widget.window) != 0
            try? await Task.sleep(for: isActive ? Self.period : Self.idlePeriod)
        }
    }
}

// What models announce, and what the user asks for.
extension MainWindow {
    private func updatePadlock() {
        let seconds = models.context.session.secondsLeft
        let isOpen = seconds != nil
        gtk_image_set_from_icon_name(
            screen["padlock_icon"].opaque, isOpen ? "changes-allow-symbolic" : "changes-prevent-symbolic")
        screen["padlock_time"].setVisible(isOpen)
        screen["padlock_time"].setText(seconds.map { SpokenDuration.clock(seconds: $0) } ?? "")
        let words = localized(isOpen ? "End changes without passcode" : "Allow changes for some minutes")
        gtk_widget_set_tooltip_text(screen["padlock"], words)
        screen["padlock"].setAccessibleLabel(words)
        guard isOpen, ticking == nil else { return }
        ticking = Task { [weak self] in
            while let session = self?.models.context.session, session.secondsLeft != nil, !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                session.refresh()
            }
            self?.ticking = nil
        }
    }

    /// In a task of its own, which waits for no other request.
    private func watchVault() {
        guard models.vault.isOpen, watching == nil else { return }
        watching = Task { [weak self] in
            guard let vault = self?.models.vault else { return }
            await vault.watch()
            guard !Task.isCancelled else { return }
            self?.watching = nil
            // It may have been opened again meanwhile.
            self?.watchVault()
        }
    }

    private func showAnnouncement() {
        guard models.context.announcements != shownAnnouncements else { return }
        shownAnnouncements = models.context.announcements
        // Not after the newest one: it may name what is locked or changed by now.
        for toast in toasts {
            adw_toast_dismiss(toast)
            g_object_unref(UnsafeMutableRawPointer(toast))
        }
        let shown = makeToast()
        adw_toast_overlay_add_toast(screen["toasts"].opaque, shown)
        toasts = [shown]
        // A window of details covers this one, and may be closed by what is announced.
        guard let front = details?.widget else { return }
        let above = makeToast()
        adw_preferences_window_add_toast(front.cast(to: AdwPreferencesWindow.self), above)
        toasts.append(above)
    }

    /// With a reference of its own, which `toasts` has.
    private func makeToast() -> OpaquePointer {
        let toast = adw_toast_new(escapedMarkup(ShownLine.plain(models.context.announcement)))!
        if let seconds = ProcessInfo.processInfo.environment["APPLOCKER_TOAST_SECONDS"].flatMap(UInt32.init) {
            adw_toast_set_timeout(toast, seconds)
        }
        g_object_ref(UnsafeMutableRawPointer(toast))
        return toast
    }

    private func showDetails(_ make: () -> any DetailWindow) {
        guard details == nil else { return }
        let window = make()
        details = window
        window.onClose { [weak self] in self?.details = nil }
    }

    private func apply(_ remedy: Remedy) {
        switch remedy {
        case .setUp: startFirstRun()
        case .chooseApps: show(pageNamed: "apps")
        case .turnMonitoringOn: Task { await models.overview.turnMonitoringOn() }
        case .startPrompter: start { try services.programs.startPrompter() }
        case .startAgent: start { try services.programs.startAgent() }
        case .startService: Task { await models.overview.start() }
        case .fix(let fix): askToFix(fix)
        }
    }

    private func askToFix(_ fix: HostFix) {
        let (title, explanation, verb) = fix.question
        let choice = Dialogs.Choice(name: "fix", verb: verb, style: .suggested)
        Dialogs.choose(title, explanation, choices: [choice], parent: widget) { [overview = models.overview] _ in
            Task { await overview.fix(fix) }
        }
    }

    private func start(_ work: () throws -> Void) {
        do {
            try services.coreLimit.lifted(work)
        } catch {
            models.context.announce(DesktopModels.sentence(error))
        }
        Task {
            // It connects within a moment.
            try? await Task.sleep(for: .milliseconds(500))
            await models.overview.refresh()
        }
    }

    private func startFirstRun() {
        details?.close()
        let context = models.context
        models.firstRun.begin()
        let view = FirstRunView(
            models.firstRun, window: { [unowned self] in widget }, announce: { context.announce($0) },
            onTrial: { [services] app in
                Task {
                    if let problem = await AppLaunch.start(app, services.coreLimit) { context.announce(problem) }
                }
            },
            onFinish: { [unowned self] in endFirstRun() })
        firstRun = view
        adw_bin_set_child(screen["first_run"].cast(to: AdwBin.self), view.widget)
        screen.show("first-run", in: "root")
        try? services.programs.startPrompter()
    }

    private func endFirstRun() {
        screen.show("main", in: "root")
        firstRun = nil
        show(page: 0)
    }
}
