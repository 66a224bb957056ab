import DesktopModels
import Foundation
import TestSupport
import Testing

@testable import DesktopWindow
@testable import HostIntegrity

struct HostProblemsTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["pkexec", "applocker", "systemctl", "apt-get", "applockerd.service", "applocker-gate.service"] {
            try directory.write("#!/bin/sh\n", to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path(name))
        }
    }

    private func administrator() -> Administrator? {
        Administrator(
            pkexec: directory.path("pkexec"), systemctl: directory.path("systemctl"),
            aptGet: directory.path("apt-get"), units: directory.path, directory: directory.path, socket: "/x")
    }

    @Test(arguments: [
        (HostFinding.Fix.kernelSetting(.tracing), Remedy.fix(.restrictTracing)),
        (.kernelSetting(.coreFiles), .fix(.restrictCoreFiles)), (.kernelSetting(.userNamespaces), nil),
        (.enableServices, .fix(.enableServices)), (.startServices, .startService),
        (.installFfmpeg, .fix(.installFfmpeg)), (nil, nil),
    ])
    func aFindingHasTheButtonOfItsFix(fix: HostFinding.Fix?, remedy: Remedy?) {
        let finding = HostFinding(.tracing, .degraded, "It is weak.", advice: "Do it.", fix: fix)
        let problem = HostProblems(administrator: administrator()).problem(finding)
        #expect(problem.remedy == remedy && problem.sentence == "It is weak." && problem.advice == "Do it.")
        #expect(HostProblems(administrator: nil).problem(finding).remedy == nil, "without polkit it is words")
    }

    @Test func onlyWhatGetsAroundALockIsAnException() {
        let problems = HostProblems(administrator: nil)
        func weakens(_ id: HostFinding.ID, _ fix: HostFinding.Fix? = nil) -> Bool {
            problems.problem(HostFinding(id, .degraded, "x", fix: fix)).weakensProtection
        }
        #expect([.tracing, .rootAccess, .preloadedLibraries].allSatisfy { weakens($0) })
        #expect(weakens(.serviceUnits, .startServices) && !weakens(.serviceUnits, .enableServices))
        #expect(![.serviceUnits, .secureBoot, .camera, .clock, .kernelTaint, .coreFiles].contains { weakens($0) })
    }

    @Test func thisComputerIsRead() async {
        for problem in await HostProblems(administrator: administrator()).read() {
            #expect(problem.sentence.hasSuffix(".") && !problem.advice.isEmpty)
        }
    }
}
