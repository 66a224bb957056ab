import Foundation
import Testing

/// The order at boot, as the package's units define it.
@Suite struct ServiceUnitTests {
    private static func lines(of unit: String) throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let file = root.appendingPathComponent("Packaging/systemd/\(unit)").standardizedFileURL
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// A job at boot (`@reboot cp /usr/bin/app ~/copy`) would have a copy of the app for ever.
    @Test(arguments: ["applocker-gate.service", "applockerd.service"])
    func servicesThatRunUsersProgramsStartAfterTheAppsAreLocked(_ unit: String) throws {
        let before = Set(
            try Self.lines(of: unit).filter { $0.hasPrefix("Before=") }
                .flatMap { $0.dropFirst(7).split(separator: " ").map(String.init) })
        #expect(
            before.isSuperset(of: [
                "systemd-user-sessions.service", "display-manager.service", "getty.target", "cron.service",
                "crond.service", "cronie.service", "fcron.service", "anacron.service", "atd.service",
            ]))
    }

    /// The gate opens the map when it starts. `PartOf=` would detach the program at each restart of the gate.
    @Test func theOverlayGuardIsAttachedBeforeTheGateAndDetachedAfterIt() throws {
        let unit = "applocker-overlay-guard.service"
        let gate = try Self.lines(of: "applocker-gate.service")
        #expect(gate.contains("Wants=\(unit)") && gate.contains("After=\(unit)"))
        #expect(gate.contains { $0.hasPrefix("SystemCallFilter=@system-service bpf ") })
        #expect(gate.contains { $0.contains(" --overlay-guard /sys/fs/bpf/applocker/locked_files") })
        let overlayGuard = try Self.lines(of: unit)
        #expect(overlayGuard.contains("StopWhenUnneeded=yes") && overlayGuard.contains("RemainAfterExit=yes"))
        #expect(!overlayGuard.contains { $0.hasPrefix("PartOf=") || $0.hasPrefix("BindsTo=") })
        #expect(overlayGuard.contains("CapabilityBoundingSet=CAP_BPF CAP_PERFMON"))
    }
}
