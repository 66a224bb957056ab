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
        "/sys/fs/cgroup/cgroup.controllers": "cpu\n",
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

    /// - Parameter unit: what `/etc/systemd/system/applockerd.service` leads to.
    private func enabledServices(_ files: [String: String], unit: String? = nil) throws -> HostFinding {
        let tree = try HostTree(files)
        let directory = tree.directory.path("etc/systemd/system")
        // As `systemctl enable` does.
        try FileManager.default.createDirectory(
            atPath: directory + "/multi-user.target.wants", withIntermediateDirectories: true)
        symlink("/usr/lib/systemd/system/applockerd.service", directory + "/multi-user.target.wants/applockerd.service")
        if let unit {
            unlink(directory + "/applockerd.service")
            symlink(unit, directory + "/applockerd.service")
        }
        return withExtendedLifetime(tree) { tree.inspection().serviceUnits() }
    }

    @Test func servicesThatAreMissingOrStoppedAreNamed() throws {
        #expect(try finding { $0.serviceUnits() }.state == .unknown)
        #expect(try enabledServices(Self.running).state == .ok)
        var stopped = Self.running
        stopped["/sys/fs/cgroup/system.slice/applockerd.service/cgroup.procs"] = nil
        let one = try enabledServices(stopped)
        #expect(one.state == .degraded && one.sentence.contains("applockerd.service") && one.fix == .startServices)
        #expect(!one.sentence.contains("applocker-gate"))
        var hybrid = stopped
        hybrid["/sys/fs/cgroup/cgroup.controllers"] = nil
        #expect(try enabledServices(hybrid).state == .unknown)
        let without = try finding(["/run/systemd/system/x": ""]) { $0.serviceUnits() }
        #expect(without.state == .degraded && without.advice != nil && without.fix == nil)
    }

    @Test func servicesThatAreInstalledAndNotEnabledAreReported() throws {
        var stopped = Self.running
        stopped["/sys/fs/cgroup/system.slice/applockerd.service/cgroup.procs"] = nil
        for files in [Self.running, stopped] {
            let found = try finding(files) { $0.serviceUnits() }
            #expect(found.state == .degraded && found.fix == .enableServices)
            #expect(found.sentence == "AppLocker does not start with this computer: its services are not enabled.")
        }
        var masked = Self.running
        masked["/lib/systemd/system/applockerd.service"] = ""
        let found = try enabledServices(masked, unit: "/dev/null")
        #expect(found.sentence.contains("masked") && found.fix == nil)
        let removed = try enabledServices(Self.running, unit: "/dev/null")
        #expect(removed.sentence.contains("not a system service"), "the package's removal masks its units")
    }

    /// The real units and the real systemctl(1), in a directory that stands for the computer.
    @Test(.requires(.program("systemctl"))) func whatSystemctlEnablesDisablesAndMasksIsRecognised() async throws {
        let tree = try HostTree(Self.running.filter { !$0.key.contains(".service") || $0.key.hasPrefix("/sys") })
        let units = ["applocker-gate.service", "applockerd.service"]
        let sources = URL(fileURLWithPath: #filePath + "/../../../../Packaging/systemd").standardizedFileURL
        for unit in units {
            let text = try String(contentsOf: sources.appending(path: unit), encoding: .utf8)
            try tree.directory.write(text, to: "usr/lib/systemd/system/\(unit)")
        }
        func after(_ command: String) async throws -> HostFinding {
            let result = try await ChildProcess.run(
                "systemctl", ["--root=\(tree.directory.path)", command] + units)
            #expect(result.exit == .code(0), "\(result.errorOutput)")
            return tree.inspection().serviceUnits()
        }
        #expect(tree.inspection().serviceUnits().fix == .enableServices)
        #expect(try await after("enable").state == .ok)
        #expect(try await after("disable").fix == .enableServices)
        #expect(try await after("mask").sentence.contains("masked"))
        _ = try await after("unmask")
        #expect(try await after("enable").state == .ok)
    }

    @Test func aCameraWithoutFfmpegIsWeakAndNoCameraIsNot() throws {
        #expect(try finding { $0.camera() }.state == .ok)
        #expect(try finding(["/dev/video-codec": ""]) { $0.camera() }.sentence.contains("no camera"))
        let without = try finding(["/dev/video0": ""]) { $0.camera() }
        #expect(without.state == .degraded && without.fix == .installFfmpeg)
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
