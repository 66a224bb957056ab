import Glibc

/// Where the control socket of a running AppLocker is.
public enum ControlSocketPath {
    /// Of an AppLocker that root or the system started without `--state`.
    public static let system = "/var/lib/applocker/control.sock"

    /// Of an AppLocker that this user started without root and without `--state`, below `XDG_STATE_HOME`, which is
    /// `~/.local/state` where it is not set to an absolute path (XDG Base Directory Specification 0.8).
    public static let inStateHome = "applocker/control.sock"

    /// The first of these that applies:
    ///
    /// 1. `option`, the value of `--socket`,
    /// 2. the environment's `APPLOCKER_SOCKET`, where it is not empty,
    /// 3. `system`, where it exists,
    /// 4. `inStateHome` below the user's state directory, where it exists,
    /// 5. `system`.
    ///
    /// An AppLocker started with `applocker up --state DIR` listens on `DIR/control.sock`, which 1 or 2 must name.
    public static func find(
        option: String?, environment: [String: String], exists: (String) -> Bool = { isThere($0) }
    ) -> String {
        if let option { return option }
        if let named = environment["APPLOCKER_SOCKET"], !named.isEmpty { return named }
        if exists(system) { return system }
        let named = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let standard = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
        if let stateHome = named ?? standard {
            let own = stateHome + "/" + inStateHome
            if exists(own) { return own }
        }
        return system
    }

    /// Whether anything has this path.
    public static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
