import Foundation
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

    @Test func servicesAreThereAndRunOrTheFindingNamesThem() throws {
        #expect(try HostTree().inspection().serviceUnits().state == .unknown)
        #expect(try HostTree(Self.running).inspection().serviceUnits().state == .ok)
        var stopped = Self.running
        stopped["/sys/fs/cgroup/system.slice/applockerd.service/cgroup.procs"] = nil
        let finding = try HostTree(stopped).inspection().serviceUnits()
        #expect(finding.state == .degraded && finding.sentence.contains("applockerd.service"))
        #expect(!finding.sentence.contains("applocker-gate"))
        let without = try HostTree(["/run/systemd/system/x": ""]).inspection().serviceUnits()
        #expect(without.state == .degraded && without.advice != nil)
    }

    @Test func aCameraWithoutFfmpegIsWeakAndNoCameraIsNot() throws {
        #expect(try HostTree().inspection().camera().state == .ok)
        #expect(try HostTree(["/dev/video-codec": ""]).inspection().camera().sentence.contains("no camera"))
        #expect(try HostTree(["/dev/video0": ""]).inspection().camera().state == .degraded)
        let both = try HostTree(["/dev/video2": "", "/usr/bin/ffmpeg": ""]).inspection().camera()
        #expect(both.state == .ok && both.sentence.contains("/dev/video2"))
    }

    @Test(arguments: [(true, .ok), (false, .degraded), (nil, .unknown)] as [(Bool?, HostFinding.State)])
    func theClockIsAsTheKernelSays(isSynchronised: Bool?, state: HostFinding.State) throws {
        #expect(try HostTree().inspection(isClockSynchronised: isSynchronised).clock().state == state)
    }

    @Test func theDescriptorStoreIsLookedForInTheGatesParent() throws {
        let tree = try HostTree(["/proc/9/status": "Name:\tgate\nPPid:\t7\n", "/proc/7/fd/x": ""])
        #expect(tree.inspection().descriptorStore(gate: 8).state == .unknown)
        #expect(tree.inspection().descriptorStore(gate: 9).state == .degraded)
        symlink("anon_inode:[fanotify]", tree.directory.path("proc/7/fd/5"))
        #expect(tree.inspection().descriptorStore(gate: 9).state == .ok)
    }
}
