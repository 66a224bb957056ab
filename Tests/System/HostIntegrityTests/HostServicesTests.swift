import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import HostIntegrity

@Suite("Tests of the host's services")
struct HostServicesTests {
    private static let running = [
        "/run/systemd/system/x": "", "/lib/systemd/system/applocker-gate.service": "",
        "/etc/systemd/system/applockerd.service": "",
        "/sys/fs/cgroup/system.slice/applocker-gate.service/cgroup.procs": "811\n",
        "/sys/fs/cgroup/system.slice/applockerd.service/cgroup.procs": "812\n",
    ]

    /// The tree must exist while it is inspected.
    private func finding(
        _ files: [String: String] = [:], isClockSynchronised: Bool? = true, _ look: (HostInspection) -> HostFinding
    ) throws -> HostFinding {
        let tree = try HostTree(files)
        return withExtendedLifetime(tree) { look(tree.inspection(isClockSynchronised: isClockSynchronised)) }
    }

    @Test func servicesThatAreMissingOrStoppedAreNamed() throws {
        #expect(try finding { $0.serviceUnits() }.state == .unknown)
        #expect(try finding(Self.running) { $0.serviceUnits() }.state == .ok)
        var stopped = Self.running
        stopped["/sys/fs/cgroup/system.slice/applockerd.service/cgroup.procs"] = nil
        let one = try finding(stopped) { $0.serviceUnits() }
        #expect(one.state == .degraded && one.sentence.contains("applockerd.service"))
        #expect(!one.sentence.contains("applocker-gate"))
        let without = try finding(["/run/systemd/system/x": ""]) { $0.serviceUnits() }
        #expect(without.state == .degraded && without.advice != nil)
    }

    @Test func aCameraWithoutFfmpegIsWeakAndNoCameraIsNot() throws {
        #expect(try finding { $0.camera() }.state == .ok)
        #expect(try finding(["/dev/video-codec": ""]) { $0.camera() }.sentence.contains("no camera"))
        #expect(try finding(["/dev/video0": ""]) { $0.camera() }.state == .degraded)
        let both = try finding(["/dev/video2": "", "/usr/bin/ffmpeg": ""]) { $0.camera() }
        #expect(both.state == .ok && both.sentence.contains("/dev/video2"))
    }

    @Test(arguments: [(true, .ok), (false, .degraded), (nil, .unknown)] as [(Bool?, HostFinding.State)])
    func theClocksStateIsTheKernels(isSynchronised: Bool?, state: HostFinding.State) throws {
        #expect(try finding(isClockSynchronised: isSynchronised) { $0.clock() }.state == state)
    }

    @Test func theDescriptorStoreIsDetectedInTheGatesParent() throws {
        let tree = try HostTree(["/proc/9/status": "Name:\tgate\nPPid:\t7\n", "/proc/7/fd/x": ""])
        #expect(tree.inspection().descriptorStore(gate: 8).state == .unknown)
        #expect(tree.inspection().descriptorStore(gate: 9).state == .degraded)
        symlink("anon_inode:[fanotify]", tree.directory.path("proc/7/fd/5"))
        #expect(tree.inspection().descriptorStore(gate: 9).state == .ok)
    }
}
