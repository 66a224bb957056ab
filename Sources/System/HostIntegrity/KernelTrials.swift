import CLinux
import Foundation

/// The questions that only the running kernel answers, and only when it is tried.
struct KernelTrials: Sendable {
    /// What came out of trying an evasion.
    enum Outcome: Sendable, Equatable {
        /// The program was held.
        case held
        /// It ran without a prompt.
        case escaped
        /// AppLocker's overlay guard denied it.
        case denied
        /// The kernel lets no ordinary user make such a mount.
        case refused
        /// The trial could not be made, and why.
        case notTried(reason: String)
    }

    /// 0 when launches can be held, otherwise the errno.
    var tryLaunchHold: @Sendable () -> Int32
    /// A held program under an overlay that an ordinary user mounts in a user namespace.
    var overlayEscapes: @Sendable () -> Outcome
    /// Nil if the kernel does not report it.
    var isClockSynchronised: @Sendable () -> Bool?

    static let thisKernel = KernelTrials(
        tryLaunchHold: { clinux_try_launch_hold("/proc/self/exe") },
        overlayEscapes: tryOverlayEscape,
        isClockSynchronised: {
            let state = clinux_clock_is_synchronised()
            return state < 0 ? nil : state == 1
        })

    /// Where the package pins the overlay guard's map.
    private static let overlayGuard = "/sys/fs/bpf/applocker/locked_files"

    @Sendable private static func tryOverlayEscape() -> Outcome {
        guard geteuid() == 0 else { return .notTried(reason: "it needs root") }
        var template = Array("/tmp/applocker-probe-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return .notTried(reason: "no temporary directory") }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        guard chmod(directory, 0o755) == 0, mkdir(directory + "/lower", 0o755) == 0,
            mkdir(directory + "/layers", 0o755) == 0, mkdir(directory + "/merged", 0o755) == 0,
            (try? FileManager.default.copyItem(atPath: "/bin/true", toPath: directory + "/lower/program")) != nil
        else { return .notTried(reason: "the trial's files could not be written") }

        var failure: Int32 = 0
        switch clinux_try_overlay_escape(directory, overlayGuard, &failure) {
        case CLINUX_OVERLAY_HELD: return .held
        case CLINUX_OVERLAY_ESCAPED: return .escaped
        case CLINUX_OVERLAY_DENIED: return .denied
        case CLINUX_OVERLAY_REFUSED: return .refused
        default: return .notTried(reason: String(cString: strerror(failure)))
        }
    }
}

extension HostInspection {
    func launchHold() -> HostFinding {
        switch kernel.tryLaunchHold() {
        case 0:
            return HostFinding(.launchHold, .ok, "The kernel holds a launch until AppLocker answers.")
        case EPERM:
            return HostFinding(
                .launchHold, .unknown, "Only root can test whether the kernel holds launches.",
                advice: "Run `sudo applocker doctor`; without root AppLocker works in the weak mode.")
        case let refusal:
            return HostFinding(
                .launchHold, .degraded,
                "The kernel does not hold launches (\(String(cString: strerror(refusal)))): AppLocker works in the weak "
                    + "mode, where a locked app is stopped only after it has started.",
                advice: "Use a kernel with CONFIG_FANOTIFY_ACCESS_PERMISSIONS, Linux 5.0 or newer.")
        }
    }

    func overlayEscape(_ outcome: KernelTrials.Outcome) -> HostFinding {
        switch outcome {
        case .held:
            return HostFinding(
                .overlayEscape, .ok, "A locked program under a user's own overlay mount is held like any other.")
        case .denied:
            return HostFinding(
                .overlayEscape, .ok,
                "AppLocker's overlay guard denies starting a locked program through a user's own overlay mount.")
        case .refused:
            return HostFinding(
                .overlayEscape, .ok, "Ordinary users can't create an overlay mount in a user namespace.")
        case .escaped:
            return HostFinding(
                .overlayEscape, .degraded,
                "A user can start a locked program without a prompt through an overlay mount in a user namespace.",
                advice: "Forbid user namespaces: `sysctl -w kernel.unprivileged_userns_clone=0` on Debian, "
                    + "`user.max_user_namespaces=0` elsewhere. Or \(overlayGuardAdvice()) Or use Linux 6.5 or newer.")
        case .notTried(let reason):
            return HostFinding(
                .overlayEscape, .unknown,
                "Whether an overlay mount in a user namespace evades AppLocker could not be tested: \(reason).",
                advice: "Run `sudo applocker doctor`.")
        }
    }

    /// What attaching the overlay guard takes. A list in the kernel command line replaces the default one.
    private func overlayGuardAdvice() -> String {
        guard case .success(let text) = files.text("/sys/kernel/security/lsm") else {
            return "use a kernel with the BPF security module."
        }
        let modules = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return modules.split(separator: ",").contains("bpf")
            ? "attach the overlay guard: `systemctl status applocker-overlay-guard` shows what it lacks."
            : "add `lsm=\(modules),bpf` to the kernel's command line, for the overlay guard."
    }
}
