import BlockingThread
import DesktopModels
import HostIntegrity
import Localization

/// What weakens this computer, as far as an ordinary user can read it.
struct HostProblems: Sendable {
    /// Nil where no administrator can be asked: then every remedy is in words.
    let administrator: Administrator?

    func read() async -> [HostProblem] {
        let readings = await runBlocking { HostInspection().readings() }
        return readings.filter { $0.state == .degraded }.map(problem)
    }

    func problem(_ finding: HostFinding) -> HostProblem {
        HostProblem(
            sentence: localized(written: finding.sentence), advice: finding.advice.map { localized(written: $0) } ?? "",
            remedy: finding.fix.flatMap(remedy), weakensProtection: Self.weakensProtection(finding))
    }

    private func remedy(_ fix: HostFinding.Fix) -> Remedy? {
        guard let administrator else { return nil }
        let wanted: HostFix
        switch fix {
        case .kernelSetting(.tracing): wanted = .restrictTracing
        case .kernelSetting(.coreFiles): wanted = .restrictCoreFiles
        // Forbidding user namespaces breaks other programs' sandboxes: that is for the command line.
        case .kernelSetting(.userNamespaces): return nil
        case .enableServices: wanted = .enableServices
        case .startServices: return administrator.canStartService ? .startService : nil
        case .installFfmpeg: wanted = .installFfmpeg
        }
        return administrator.canMake(wanted) ? .fix(wanted) : nil
    }

    /// Whether a program or another user gets around a lock by it, while the computer runs.
    private static func weakensProtection(_ finding: HostFinding) -> Bool {
        switch finding.id {
        case .launchHold, .overlayEscape, .rootAccess, .preloadedLibraries, .tracing, .userNamespaces,
            .descriptorStore:
            true
        // Another way of starting AppLocker, or the next start of the computer, does not matter to what runs now.
        case .serviceUnits: finding.fix == .startServices
        case .coreFiles, .secureBoot, .kernelLockdown, .kernelTaint, .fanotifyWatchdog, .camera, .clock: false
        }
    }
}
