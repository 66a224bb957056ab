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
}
