import Foundation
import TestSupport

@testable import HostIntegrity

/// A directory that stands for `/`.
struct HostTree {
    let directory: TemporaryDirectory

    /// - Parameter files: absolute path → content.
    init(_ files: [String: String] = [:]) throws {
        directory = try TemporaryDirectory()
        for (path, content) in files { try directory.write(content, to: String(path.dropFirst())) }
    }

    func inspection(
        launchHold: Int32 = 0, overlay: KernelTrials.Outcome = .held, isClockSynchronised: Bool? = true
    ) -> HostInspection {
        HostInspection(
            root: directory.path,
            kernel: KernelTrials(
                tryLaunchHold: { launchHold }, overlayEscapes: { overlay },
                isClockSynchronised: { isClockSynchronised }))
    }
}
