/// The result of one test of the host.
public struct HostFinding: Sendable, Equatable {
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

        /// A few words for people.
        public var title: String {
            switch self {
            case .launchHold: "Held launches"
            case .overlayEscape: "Overlay mounts"
            case .rootAccess: "Who can become root"
            case .preloadedLibraries: "Preloaded libraries"
            case .tracing: "Tracing of programs"
            case .userNamespaces: "User namespaces"
            case .secureBoot: "Secure boot"
            case .kernelLockdown: "Kernel lockdown"
            case .kernelTaint: "Third-party code in the kernel"
            case .fanotifyWatchdog: "Kernel time limits"
            case .coreFiles: "Core files"
            case .serviceUnits: "System services"
            case .camera: "Camera"
            case .clock: "Clock"
            case .descriptorStore: "Descriptor store"
            }
        }
    }

    public enum State: String, Sendable, Codable {
        /// Nothing here weakens AppLocker.
        case ok
        /// AppLocker protects less on this host than it could.
        case degraded
        /// It could not be determined.
        case unknown
    }

    public var id: ID
    public var state: State
    /// What was found, in one sentence.
    public var sentence: String
    /// If degraded: a user other than root can start a locked app without a prompt, or inject code into every program.
    public var underminesAll: Bool {
        switch id {
        case .launchHold, .overlayEscape, .userNamespaces, .preloadedLibraries: state == .degraded
        default: false
        }
    }
    /// What to do about it, in one sentence, where there is something to do.
    public var advice: String?
    /// What a program that runs as root can do about it.
    public var fix: Fix?

    public enum Fix: Sendable, Equatable {
        case kernelSetting(KernelSetting)
        /// systemd has AppLocker's services, and does not start them at boot.
        case enableServices
        case startServices
        case installFfmpeg
    }

    init(_ id: ID, _ state: State, _ sentence: String, advice: String? = nil, fix: Fix? = nil) {
        self.id = id
        self.state = state
        self.sentence = sentence
        self.advice = advice
        self.fix = fix
    }
}
