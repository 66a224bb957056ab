import Glibc
import TestSupport
import Testing

@testable import LaunchGate

@Suite struct WatchdogIntervalTests {
    private static let intervals: [(UInt64, UInt64)] = [
        (2, 1_000), (30_000_000, 15_000_000_000), (86_400_000_000, 43_200_000_000_000),
        (UInt64(Int64.max), 43_200_000_000_000), (.max, 43_200_000_000_000),
    ]

    @Test(arguments: intervals)
    func `the watchdog interval is half of the timeout, at most 12 hours`(_ allowed: UInt64, _ interval: UInt64) {
        #expect(DescriptorStore.interval(ofAllowedMicroseconds: allowed) == interval)
    }

    @Test func `a parent without a watchdog timeout is sent no signal`() {
        #expect(DescriptorStore.interval(ofAllowedMicroseconds: 0) == nil)
        #expect(DescriptorStore.interval(ofAllowedMicroseconds: 1) == nil)
    }
}

@Suite struct GateConfigurationTests {
    @Test func `every option is parsed`() throws {
        let configuration = try GateConfiguration(arguments: [
            "--socket", "/run/x/gate.sock", "--daemon-uid", "990", "--daemon-executable", "/usr/bin/applockerd",
            "--known-apps", "/var/lib/x/known-apps", "--overlay-guard", "/sys/fs/bpf/x/locked_files", "--weak",
            "--no-descriptor-store",
        ])
        #expect(configuration.socket == Array("/run/x/gate.sock".utf8))
        #expect(configuration.daemonUser == 990)
        #expect(configuration.daemonExecutable == Array("/usr/bin/applockerd".utf8))
        #expect(configuration.knownApps == Array("/var/lib/x/known-apps".utf8))
        #expect(configuration.overlayGuard == Array("/sys/fs/bpf/x/locked_files".utf8))
        #expect(configuration.weak && configuration.withoutDescriptorStore)
    }

    @Test func `the daemon's user can be named by a directory that they own`() throws {
        let directory = try TemporaryDirectory()
        var status = stat()
        try #require(stat(directory.path, &status) == 0)
        let configuration = try GateConfiguration(arguments: ["--socket", "/s", "--daemon-user-of", directory.path])
        #expect(configuration.daemonUser == status.st_uid)
    }

    @Test(
        arguments: [
            (["--socket", "/s"], "--daemon-uid"),
            (["--daemon-uid", "0"], "--socket"),
            (["--socket"], "needs a value"),
            (["--socket", "/s", "--daemon-uid", "root"], "\"root\""),
            (["--socket", "/s", "--daemon-uid", "4294967295"], "4294967295"),
            (["--socket", "/s", "--daemon-user-of", "/etc/passwd"], "\"/etc/passwd\""),
            (["--socket", "/s", "--daemon-user-of", "/nowhere"], "\"/nowhere\""),
            (["--socket", "/s", "--daemon-user-of", "tmp"], "\"tmp\""),
            (["--socket", "/s", "--daemon-uid", "0", "--daemon-executable", "x"], "absolute"),
            (["--socket", "/s", "--daemon-uid", "0", "--known-apps", "x"], "absolute"),
            (["--socket", "/s", "--daemon-uid", "0", "--overlay-guard", "x"], "absolute"),
            (["--help-me"], "--help-me"),
        ])
    func `an invalid command line is refused with the reason`(arguments: [String], hint: String) {
        let error = #expect(throws: GateError.self) { try GateConfiguration(arguments: arguments) }
        #expect(error?.code == .usage)
        #expect(error?.sentence.contains(hint) == true)
    }
}
