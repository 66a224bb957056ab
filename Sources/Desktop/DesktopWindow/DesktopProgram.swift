import ArgumentParser
import CAdwaita
import CGtk4
import CWindowTemplates
import DesktopModels
import DesktopSession
import Foundation
import GtkSupport
import HubAPI
import LocalControl
import Pictures
import ProcessHardening

public enum DesktopProgram {
    /// Of the desktop entry, the D-Bus service and the window.
    static let id = "org.applocker.AppLocker"

    /// Runs the program; returns only with an exit code: 0 done, 1 refused, 2 usage.
    @MainActor
    public static func main(_ arguments: [String]) -> Int32 {
        let coreLimit: CoreLimit
        do {
            coreLimit = try ProcessHygiene.apply()
        } catch {
            StandardError.write("applocker-desktop: \(error.sentence)\n")
            return 1
        }
        GettextCatalogue.install(programs: SessionPrograms.ownDirectory)
        switch DesktopOptions.parsed(arguments) {
        case .options(let options): return run(options, coreLimit)
        case .exit(let code): return code
        }
    }

    @MainActor
    private static func run(_ options: DesktopOptions, _ coreLimit: CoreLimit) -> Int32 {
        // The window's class, by which a desktop finds its entry.
        g_set_prgname(id)
        g_set_application_name("AppLocker")
        guard gtk_init_check() != 0 else {
            StandardError.write(
                "applocker-desktop: there is no desktop session (neither WAYLAND_DISPLAY nor DISPLAY can be reached). "
                    + "In a terminal, `applocker` does the same.\n")
            return 1
        }
        let ownVariables = ProcessHygiene.ownVariables
        let environment = ProcessInfo.processInfo.environment.filter { ownVariables[$0.key] == nil }
        let services = WindowServices(
            programs: SessionPrograms(environment: environment, socket: options.daemon.socket), coreLimit: coreLimit)
        let application = DesktopApplication(isService: options.gapplicationService, services) {
            [socket = options.daemon.socket] in
            ControlSocketPath.find(option: socket, environment: environment)
        }
        MainActorWatch.begin()
        return application.run(files: options.files)
    }
}

struct DesktopOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applocker-desktop", abstract: "Manage AppLocker in a window.",
        discussion: """
            Runs once in each desktop session; a second start shows the window of the first. Files that are named are \
            locked, and locked files (.aplk) unlocked, after a question.
            """,
        version: "applocker-desktop \(Release.version)")

    @Argument(help: "Files to lock or to unlock.", completion: .file()) var files: [String] = []
    @OptionGroup var daemon: SocketOption

    @Flag(help: "Wait for the desktop to activate it over D-Bus.")
    var gapplicationService = false
}

/// The application: one window, one instance in a session.
@MainActor
private final class DesktopApplication {
    private let application: UnsafeMutablePointer<AdwApplication>
    private let services: WindowServices
    private let socketPath: @Sendable () -> String
    private var window: MainWindow?

    init(isService: Bool, _ services: WindowServices, socketPath: @escaping @Sendable () -> String) {
        self.services = services
        self.socketPath = socketPath
        let flags = G_APPLICATION_HANDLES_OPEN.rawValue | (isService ? G_APPLICATION_IS_SERVICE.rawValue : 0)
        application = adw_application_new(DesktopProgram.id, GApplicationFlags(rawValue: flags))
        Signals.connect(UnsafeMutableRawPointer(application), "startup") { [unowned self] in start() }
        Signals.connect(UnsafeMutableRawPointer(application), "activate") { [unowned self] in activate() }
        Signals.connectOpen(UnsafeMutableRawPointer(application)) { [unowned self] paths in
            activate()
            window?.open(paths)
        }
    }

    /// Runs until the window is closed. Where another instance runs, that one shows its window and gets the files.
    func run(files: [String]) -> Int32 {
        // GApplication takes a relative name for an option or an address if it looks like one.
        let folder = FileManager.default.currentDirectoryPath
        let paths = files.filter { !$0.isEmpty }.map { $0.hasPrefix("/") ? $0 : folder + "/" + $0 }
        let words = [DesktopProgram.id] + paths
        var arguments = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        return g_application_run(gApplication, Int32(arguments.count), &arguments)
    }

    private var gApplication: UnsafeMutablePointer<GApplication> {
        UnsafeMutablePointer(OpaquePointer(application))
    }
    private var gtkApplication: UnsafeMutablePointer<GtkApplication> {
        UnsafeMutablePointer(OpaquePointer(application))
    }

    private func start() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, cwindow_text("style.css"), -1)
        let display = gdk_display_get_default()
        gtk_style_context_add_provider_for_display(
            display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        if !services.programs.iconDirectory.isEmpty {
            gtk_icon_theme_add_search_path(gtk_icon_theme_get_for_display(display), services.programs.iconDirectory)
        }
        let quit = g_simple_action_new("quit", nil)!
        Signals.connectChange(UnsafeMutableRawPointer(quit), "activate") { [unowned self] in
            if let window { gtk_window_close(window.widget.window) } else { g_application_quit(gApplication) }
        }
        g_action_map_add_action(OpaquePointer(application), quit)
        g_object_unref(UnsafeMutableRawPointer(quit))
    }

    private func activate() {
        if let window { return window.present() }
        let control = DaemonControl(socketPath: socketPath)
        let phoneWays = PhoneWaysCheck(directory: services.programs.directory, socket: socketPath)
        let photos = DaemonPhotos(
            control: control, maker: PictureMaker(executable: services.programs.directory + "/applocker-picture"))
        let models = WindowModels(control: control, files: DaemonFiles(control: control), photos: photos) {
            await phoneWays.ways(to: $0)
        }
        let panel = CompanionPanel(
            commandLine: services.programs.directory + "/applocker", socket: socketPath
        ) { [coreLimit = services.coreLimit] start in try coreLimit.lifted(start) }
        models.moments.openPanel = { try await panel.open($0) }
        let administrator = Administrator(directory: services.programs.directory, socket: socketPath())
        let hostProblems = HostProblems(administrator: administrator)
        models.overview.readHost = { await hostProblems.read() }
        if let administrator {
            models.overview.fixHost = { try await administrator.make($0) }
            let hub = HubService(administrator: administrator)
            models.devices.connection.canStartHere = { hub.isInstalled }
            models.devices.connection.startHere = { try await hub.start() }
            models.firstRun.setUpAsAdministrator = { try await administrator.set($0) }
            // The package can be installed while the window is open.
            models.overview.canStartService = { administrator.canStartService }
            models.overview.startService = { try await administrator.startService() }
        }
        let window = MainWindow(gtkApplication, models, services) { [unowned self] in g_application_quit(gApplication) }
        for (action, keys) in window.accelerators {
            keys.withCString { keys in
                var list: [UnsafePointer<CChar>?] = [keys, nil]
                gtk_application_set_accels_for_action(gtkApplication, action, &list)
            }
        }
        self.window = window
        window.present()
    }
}
