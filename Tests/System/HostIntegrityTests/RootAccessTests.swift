import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import HostIntegrity

@Suite("Who can become root")
struct RootAccessTests {
    private let passwd = """
        root:x:0:0:root:/root:/bin/bash
        daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
        anna:x:1000:1000:Anna,,,:/home/anna:/bin/bash
        ben:x:1001:27:Ben:/home/ben:/bin/bash
        cleo:x:1002:1002::/home/cleo:/bin/sh
        """
    private let group = """
        root:x:0:
        sudo:x:27:anna
        users:x:100:cleo
        docker:x:999:
        """

    @Test func namesMembersAndUsersWithThisPrimaryGroup() throws {
        let tree = try HostTree(["/etc/passwd": passwd, "/etc/group": group])
        let access = RootAccess(HostFiles(root: tree.directory.path))
        #expect(access.withPassword == ["anna", "ben"])
        #expect(access.throughGroups.isEmpty && access.otherRoots.isEmpty && access.unreadable.isEmpty)
        #expect(access.finding.state == .ok)
        #expect(access.finding.sentence.contains("anna, ben"))
    }

    @Test func aSecondAccountWithUserIDZeroIsRoot() throws {
        let tree = try HostTree(["/etc/passwd": passwd + "\ntoor:x:0:0::/root:/bin/sh", "/etc/group": group])
        let access = RootAccess(HostFiles(root: tree.directory.path))
        #expect(access.otherRoots == ["toor"])
        #expect(access.finding.state == .degraded)
    }

    @Test(arguments: ["docker", "lxd", "disk"])
    func someGroupsAreRootWithoutAPassword(name: String) throws {
        let tree = try HostTree(["/etc/passwd": passwd, "/etc/group": "\(name):x:5:cleo, anna"])
        let access = RootAccess(HostFiles(root: tree.directory.path))
        #expect(access.throughGroups == ["anna (\(name))", "cleo (\(name))"])
        #expect(access.finding.state == .degraded)
    }

    @Test func findsRulesWithoutPassword() {
        let sudoers = """
            # cleo ALL=(ALL) NOPASSWD: ALL
            Defaults env_reset
            root ALL=(ALL:ALL) NOPASSWD: ALL
            %sudo ALL=(ALL:ALL) ALL
            anna ALL=(ALL) NOPASSWD: /usr/bin/apt
            ben  ALL = \\
               NOPASSWD: ALL
            cleo ALL=(ALL) ALL # NOPASSWD: later
            Defaults:dora !authenticate
            """
        #expect(RootAccess.rulesWithoutPassword(in: sudoers) == ["anna", "ben", "everybody in Defaults:dora"])
    }

    @Test func readsTheIncludedDirectoryAsSudoDoes() throws {
        let rule = " ALL=(ALL) NOPASSWD: ALL\n"
        let tree = try HostTree([
            "/etc/passwd": passwd, "/etc/group": group, "/etc/sudoers": "%sudo ALL=(ALL:ALL) ALL\n",
            "/etc/sudoers.d/90-cloud": "cloud" + rule, "/etc/sudoers.d/old.bak": "old" + rule,
            "/etc/sudoers.d/edit~": "edit" + rule,
        ])
        let access = RootAccess(HostFiles(root: tree.directory.path))
        #expect(access.withoutPassword == ["cloud (/etc/sudoers.d/90-cloud)"])
        #expect(access.finding.state == .degraded)
        #expect(access.finding.sentence.contains("cloud (/etc/sudoers.d/90-cloud)"))
    }

    @Test func anUnreadableFileMakesTheFindingUnknown() throws {
        let tree = try HostTree(["/etc/passwd": passwd, "/etc/group": group, "/etc/sudoers/inside": ""])
        let finding = RootAccess(HostFiles(root: tree.directory.path)).finding
        #expect(finding.state == .unknown)
        #expect(finding.advice?.contains("sudo") == true)
    }

    @Test func malformedLinesAreSkipped() throws {
        let tree = try HostTree([
            "/etc/passwd": ":::\nx\n\nanna:x:-1:99999999999:", "/etc/group": "sudo\nsudo:x:y:z\n:::",
        ])
        #expect(RootAccess(HostFiles(root: tree.directory.path)) == RootAccess())
    }
}
