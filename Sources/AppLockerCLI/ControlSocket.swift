import Foundation

/// Where the control socket of a running AppLocker is.
enum ControlSocket {
    /// Of an AppLocker that root or the system started without `--state`.
    static let systemPath = "/var/lib/applocker/control.sock"

    /// Of an AppLocker that this user started without root and without `--state`, below `XDG_STATE_HOME`, which is
    /// `~/.local/state` where it is not set to an absolute path (XDG Base Directory Specification 0.8).
    static let pathInStateHome = "applocker/control.sock"

    /// The first of these that applies:
    ///
    /// 1. `option`, the value of `--socket`,
    /// 2. the environment's `APPLOCKER_SOCKET`, where it is not empty,
    /// 3. `systemPath`, where it exists,
    /// 4. `pathInStateHome` below the user's state directory, where it exists,
    /// 5. `systemPath`.
    ///
    /// An AppLocker started with `applocker up --state DIR` listens on `DIR/control.sock`, which 1 or 2 must name.
    static func path(
        option: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
        exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
    ) -> String {
        if let option { return option }
        if let named = environment["APPLOCKER_SOCKET"], !named.isEmpty { return named }
        if exists(systemPath) { return systemPath }
        let named = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let standard = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
        if let stateHome = named ?? standard {
            let own = stateHome + "/" + pathInStateHome
            if exists(own) { return own }
        }
        return systemPath
    }
}
