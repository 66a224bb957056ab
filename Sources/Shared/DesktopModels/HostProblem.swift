import Localization

/// A change of this computer that AppLocker can make after an administrator's password.
public enum HostFix: Equatable, Sendable {
    case restrictTracing, restrictCoreFiles, enableServices, installFfmpeg, startHub

    /// What is asked before: every change, where it is made, and what it affects.
    public var question: (title: String, explanation: String, verb: String) {
        let file = "/etc/sysctl.d/60-applocker.conf"
        return switch self {
        case .restrictTracing:
            (
                localized("Restrict tracing?"),
                localized(
                    "AppLocker sets kernel.yama.ptrace_scope to 1, now and in \(file) for each start. A debugger can then trace only programs that it starts itself."
                ),
                localized("_Restrict")
            )
        case .restrictCoreFiles:
            (
                localized("Restrict core files?"),
                localized(
                    "AppLocker sets fs.suid_dumpable to 0, now and in \(file) for each start. Programs that change their user then leave no core file when they crash."
                ),
                localized("_Restrict")
            )
        case .enableServices:
            (
                localized("Start AppLocker with this computer?"),
                localized(
                    "AppLocker enables its services applocker-gate and applockerd, and starts them now. From then on your apps are locked before anybody can log in."
                ),
                localized("_Enable")
            )
        case .installFfmpeg:
            (
                localized("Install ffmpeg?"),
                localized(
                    "AppLocker installs the package ffmpeg from this computer's package sources. It takes the photos after wrong passcodes. This may need some minutes."
                ),
                localized("_Install")
            )
        case .startHub:
            (
                localized("Set up a hub on this computer?"),
                localized(
                    "AppLocker enables the service applocker-hub, starts it now, and connects this computer to it. The hub passes sealed records between your devices, as long as this computer is on."
                ),
                localized("_Set Up")
            )
        }
    }
}

/// What `applocker doctor` finds about this computer, as the overview shows it.
public struct HostProblem: Equatable, Sendable {
    public var sentence: String
    /// What the user can do without AppLocker.
    public var advice: String
    /// `startService` or `fix`.
    public var remedy: Remedy?
    /// Whether someone can get around a lock by it. Otherwise it is advice only, as a photo that can't be taken.
    public var weakensProtection: Bool

    public init(sentence: String, advice: String = "", remedy: Remedy? = nil, weakensProtection: Bool = true) {
        self.sentence = sentence
        self.advice = advice
        self.remedy = remedy
        self.weakensProtection = weakensProtection
    }

    /// With words in place of a button.
    var problem: ProtectionProblem {
        ProtectionProblem(sentence: sentence, advice: remedy == nil ? advice : "", remedy: remedy)
    }
}
