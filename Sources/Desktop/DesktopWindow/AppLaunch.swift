import BlockingThread
import CGtk4
import GtkSupport
import Localization
import ProcessHardening

/// Starts an installed app as a desktop does.
enum AppLaunch {
    /// Returns once the app runs or was denied: the launch of a locked app waits for its passcode, so it runs on a thread
    /// of its own.
    ///
    /// - Parameter id: of its desktop entry, without the suffix.
    /// - Returns: why it did not start; nil if it did.
    static func start(_ id: String, _ coreLimit: CoreLimit) async -> String? {
        await runBlocking { () -> String? in
            guard let info = g_desktop_app_info_new("\(id).desktop") else {
                return localized("This app has no desktop entry.")
            }
            defer { g_object_unref(UnsafeMutableRawPointer(info)) }
            // Set for this program alone.
            let context = g_app_launch_context_new()
            for name in ProcessHygiene.ownVariables.keys { g_app_launch_context_unsetenv(context, name) }
            defer { g_object_unref(context) }
            var error: UnsafeMutablePointer<GError>?
            let isStarted = coreLimit.lifted { g_app_info_launch(info, nil, context, &error) != 0 }
            guard !isStarted, let error else { return nil }
            defer { g_error_free(error) }
            return String(cString: error.pointee.message)
        }
    }
}
