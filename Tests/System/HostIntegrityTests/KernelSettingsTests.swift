import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import HostIntegrity

@Suite("Settings of the kernel that are made safe")
struct KernelSettingsTests {
    private let scope = "/proc/sys/kernel/yama/ptrace_scope"
    private let dumpable = "/proc/sys/fs/suid_dumpable"

    private func settings(_ tree: HostTree) -> KernelSettings { KernelSettings(root: tree.directory.path) }

    private func content(_ tree: HostTree, _ path: String = KernelSettings.file) throws -> String {
        try String(contentsOfFile: tree.directory.path + path, encoding: .utf8)
    }

    private func names(_ tree: HostTree) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: tree.directory.path + "/etc/sysctl.d").sorted()
    }

    /// - Returns: the sentence, after it has changed nothing.
    private func refusal(_ tree: HostTree, _ setting: KernelSetting = .tracing) throws -> String {
        let before = try? content(tree, scope)
        let error = #expect(throws: KernelSettingError.self) { try settings(tree).makeSafe(setting) }
        #expect((try? content(tree, scope)) == before)
        return error?.description ?? ""
    }

    @Test func aSettingIsSetNowAndForEachStart() throws {
        let tree = try HostTree([scope: "0\n", "/etc/hostname": "x"])
        #expect(try settings(tree).makeSafe(.tracing) == .changed)
        #expect(try content(tree, scope) == "1\n")
        #expect(try content(tree).hasSuffix("\nkernel.yama.ptrace_scope = 1\n"))
        let mode = try FileManager.default.attributesOfItem(atPath: tree.directory.path + KernelSettings.file)
        #expect(mode[.posixPermissions] as? Int == 0o644)
        #expect(try names(tree) == ["60-applocker.conf"])
    }

    @Test func aSafeSettingStaysAndNothingIsWritten() throws {
        for value in ["1", "2", "3"] {
            let tree = try HostTree([scope: value + "\n"])
            #expect(try settings(tree).makeSafe(.tracing) == .wasSafe(Int(value) ?? 0))
            #expect(try content(tree, scope) == value + "\n")
            #expect(!FileManager.default.fileExists(atPath: tree.directory.path + KernelSettings.file))
        }
        let tree = try HostTree([dumpable: "2"])
        #expect(try settings(tree).makeSafe(.coreFiles) == .wasSafe(2))
    }

    @Test func otherLinesStayAndItsOwnAreReplaced() throws {
        let garbage = "# mine\nnet.ipv4.ip_forward=1\n=\n\u{1}\u{2} = = \n"
        let tree = try HostTree([
            scope: "0", dumpable: "1",
            KernelSettings.file: garbage + "kernel.yama.ptrace_scope=0\n - kernel/yama/ptrace_scope = 0\nlast",
        ])
        #expect(try settings(tree).makeSafe(.tracing) == .changed)
        #expect(try content(tree) == garbage + "last\nkernel.yama.ptrace_scope = 1\n")
        #expect(try settings(tree).makeSafe(.coreFiles) == .changed)
        #expect(
            try content(tree) == garbage + "last\nkernel.yama.ptrace_scope = 1\nfs.suid_dumpable = 0\n")
        // Also after someone has set it back.
        try tree.directory.write("0\n", to: String(scope.dropFirst()))
        #expect(try settings(tree).makeSafe(.tracing) == .changed)
        #expect(
            try content(tree) == garbage + "last\nfs.suid_dumpable = 0\nkernel.yama.ptrace_scope = 1\n")
    }

    @Test func bytesThatAreNotTextStay() throws {
        let tree = try HostTree([dumpable: "1", KernelSettings.file: ""])
        let path = tree.directory.path + KernelSettings.file
        try Data([0xFF, 0x00, 0xC3, 0x0A]).write(to: URL(fileURLWithPath: path))
        #expect(try settings(tree).makeSafe(.coreFiles) == .changed)
        let after = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(after == Data([0xFF, 0x00, 0xC3, 0x0A]) + Data("fs.suid_dumpable = 0\n".utf8))
    }

    @Test func aSettingThatTheKernelLacksIsRefused() throws {
        let tree = try HostTree(["/etc/hostname": "x"])
        #expect(try refusal(tree) == "This kernel has no kernel.yama.ptrace_scope.")
        #expect(
            try refusal(tree, .userNamespaces) == "This kernel has no kernel.unprivileged_userns_clone.")
        #expect(!FileManager.default.fileExists(atPath: tree.directory.path + "/etc/sysctl.d"))
        #expect(try refusal(HostTree([scope: "nonsense"])) == "kernel.yama.ptrace_scope could not be read.")
    }

    @Test func aLinkInThePlaceOfTheFileOrItsDirectoryIsNotFollowed() throws {
        let tree = try HostTree([scope: "0", "/victim": "keep", "/elsewhere/x": "", "/etc/sysctl.d/x": ""])
        symlink(tree.directory.path("victim"), tree.directory.path + KernelSettings.file)
        #expect(try refusal(tree).hasPrefix("/etc/sysctl.d/60-applocker.conf is a link"))
        #expect(try content(tree, "/victim") == "keep")

        // A draft that a link stands in for is replaced, and not written through.
        unlink(tree.directory.path + KernelSettings.file)
        symlink(tree.directory.path("victim"), tree.directory.path("etc/sysctl.d/.60-applocker.conf.new"))
        #expect(try settings(tree).makeSafe(.tracing) == .changed)
        #expect(try content(tree, "/victim") == "keep")
        #expect(try names(tree) == ["60-applocker.conf", "x"])

        for directory in ["etc/sysctl.d", "etc"] {
            try tree.directory.write("0\n", to: String(scope.dropFirst()))
            try FileManager.default.removeItem(atPath: tree.directory.path(directory))
            symlink(tree.directory.path("elsewhere"), tree.directory.path(directory))
            #expect(try refusal(tree).hasPrefix("/\(directory) can't be opened as a directory"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.directory.path("elsewhere")) == ["x"])
    }

    @Test func whatOthersCanChangeIsRefused() throws {
        let tree = try HostTree([scope: "0", KernelSettings.file: "x = 1\n"])
        chmod(tree.directory.path + KernelSettings.file, 0o666)
        #expect(try refusal(tree).contains("no file of root's alone"))
        chmod(tree.directory.path + KernelSettings.file, 0o644)
        chmod(tree.directory.path("etc/sysctl.d"), 0o777)
        #expect(try refusal(tree).hasPrefix("Other users can change /etc/sysctl.d"))
        chmod(tree.directory.path("etc/sysctl.d"), 0o755)
        unlink(tree.directory.path + KernelSettings.file)
        mkfifo(tree.directory.path + KernelSettings.file, 0o600)
        #expect(try refusal(tree).contains("no file of root's alone"))
    }

    @Test func aLaterFileThatSetsItBackIsNamed() throws {
        let tree = try HostTree([
            scope: "0", "/usr/lib/sysctl.d/10-early.conf": "kernel.yama.ptrace_scope = 0\n",
            "/usr/lib/sysctl.d/99-late.conf": "kernel.yama.ptrace_scope=0\n",
            "/etc/sysctl.d/99-late.conf": "# replaces the file of that name\n",
        ])
        #expect(try settings(tree).makeSafe(.tracing) == .changed)
        try tree.directory.write("0\n", to: String(scope.dropFirst()))
        try tree.directory.write("kernel/yama/ptrace_scope =0\n", to: "run/sysctl.d/70-local.conf")
        let error = #expect(throws: KernelSettingError.self) { try settings(tree).makeSafe(.tracing) }
        #expect(
            error?.description.hasPrefix(
                "kernel.yama.ptrace_scope is 1 now, but /run/sysctl.d/70-local.conf has \"kernel.yama.ptrace_scope = 0\""
            ) == true)
        #expect(try content(tree, scope) == "1\n")
        let again = #expect(throws: KernelSettingError.self) { try settings(tree).makeSafe(.tracing) }
        #expect(again == error, "until that line is gone")
    }

    /// The names that scripts and the window use are those of the findings.
    @Test func eachSettingIsTheFixOfTheFindingOfItsName() throws {
        let tree = try HostTree([
            "/etc/hostname": "x", scope: "0", dumpable: "1", "/proc/sys/kernel/core_pattern": "core",
            "/proc/sys/kernel/unprivileged_userns_clone": "1", "/proc/sys/user/max_user_namespaces": "9",
        ])
        let findings = tree.inspection(overlay: .escaped).findings()
        for setting in KernelSetting.allCases {
            let finding = findings.first { $0.id.rawValue == setting.rawValue }
            #expect(finding?.state == .degraded && finding?.fix == .kernelSetting(setting))
            #expect(finding?.advice?.contains("doctor --fix \(setting.rawValue)`") == true)
            #expect(try settings(tree).makeSafe(setting) == .changed)
        }
        let fixed = tree.inspection(overlay: .escaped).findings()
        for setting in KernelSetting.allCases {
            #expect(fixed.first { $0.id.rawValue == setting.rawValue }?.state == .ok)
        }
    }
}
