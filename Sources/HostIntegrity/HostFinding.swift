/// What one test of the host found out.
public struct HostFinding: Sendable, Equatable, Codable {
    /// Which test it was. The names are stable: scripts may rely on them.
    public enum ID: String, Sendable, Codable, CaseIterable {
        case launchHold = "launch-hold"
        case overlayEscape = "overlay-escape"
        case rootAccess = "root-access"
        case preloadedLibraries = "preloaded-libraries"
        case tracing
        case userNamespaces = "user-namespaces"
        case secureBoot = "secure-boot"
        case kernelLockdown = "kernel-lockdown"
        case kernelTaint = "kernel-taint"
        case fanotifyWatchdog = "fanotify-watchdog"
        case coreFiles = "core-files"
        case serviceUnits = "service-units"
        case camera
        case clock
        case descriptorStore = "descriptor-store"
    }

    public enum State: String, Sendable, Codable {
        /// Nothing here weakens AppLocker.
        case ok
        /// AppLocker protects less on this host than it could.
        case degraded
        /// It could not be found out.
        case unknown
    }

    public var id: ID
    public var state: State
    /// What was found, in one sentence.
    public var sentence: String
    /// What to do about it, in one sentence, where there is something to do.
    public var advice: String?

    init(_ id: ID, _ state: State, _ sentence: String, advice: String? = nil) {
        self.id = id
        self.state = state
        self.sentence = sentence
        self.advice = advice
    }
}
