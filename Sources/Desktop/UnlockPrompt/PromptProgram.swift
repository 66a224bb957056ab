import CGtk4
import DesktopSession
import Foundation
import GtkSupport
import LocalControl
import ProcessHardening

public enum PromptProgram {
    /// Runs the program; returns only with an exit code: 0 done, 1 refused, 2 usage.
    @MainActor
    public static func main(_ arguments: [String]) -> Int32 {
        let coreLimit: CoreLimit
        do {
            coreLimit = try ProcessHygiene.apply()
        } catch {
            StandardError.write("applocker-prompt: \(error.sentence)\n")
            return 1
        }
        GettextCatalogue.install(programs: SessionPrograms.ownDirectory)
        let options: PromptOptions
        switch PromptOptions.parsed(arguments) {
        case .options(let parsed): options = parsed
        case .exit(let code): return code
        }
        switch options.task {
        case .showPhoto(let photo, let caption, let hides):
            return PhotoViewer.run(photo: photo, caption: caption, hidesOnCapture: hides)
        case .showLink(let link):
            return LinkWindow.run(link: link)
        case .unlockAll(let socket):
            return SinglePrompt.run(socket: socket)
        case .keepOpen(let app, let socket):
            return SinglePrompt.run(keepingOpen: app, socket: socket)
        case .holdClipboard(let descriptor, let seconds):
            return ClipboardHolder.run(descriptor, seconds: seconds)
        case .prompt(let socket):
            return run(socket: socket, coreLimit)
        }
    }

    @MainActor
    private static func run(socket: String?, _ coreLimit: CoreLimit) -> Int32 {
        g_set_prgname("applocker-prompt")
        let advice = "In a terminal, `applocker prompt --tty` asks for the passcode."
        guard let display = MainLoop.openDisplay(otherwise: advice) else { return 1 }
        let environment = ProcessInfo.processInfo.environment
        let session =
            "\(String(cString: gdk_display_get_name(display)))\n\(socket ?? environment["APPLOCKER_SOCKET"] ?? "")"
        let lock: SessionLock
        do throws(SessionLock.Failure) {
            lock = try SessionLock(directory: SessionLock.directory(environment), session: session)
        } catch {
            return report(error)
        }
        let connection = DaemonConnection { ControlSocketPath.find(option: socket, environment: environment) }
        let prompter = Prompter(connection: connection, window: PromptWindow()) { execRequest, onFailure in
            _ = try coreLimit.lifted { try execRequest.start { onFailure("\($0)") } }
        }
        Task { await prompter.run() }
        withExtendedLifetime(lock) { MainLoop.run() }
    }

    private static func report(_ failure: SessionLock.Failure) -> Int32 {
        switch failure {
        case .taken:
            print("applocker-prompt is running in this session already.")
            return 0
        case .refused(let path, let code):
            StandardError.write("applocker-prompt: \(path) can't be used (\(String(cString: strerror(code)))).\n")
            return 1
        }
    }
}
