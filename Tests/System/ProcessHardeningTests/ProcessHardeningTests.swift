import Testing

@testable import ProcessHardening

@Suite struct ProcessHardeningTests {
    @Test func theTracerIsReadFromTheKernelsStatus() {
        #expect(ProcessHardening.tracer(inStatus: "Name:\tx\nTracerPid:\t0\nUid:\t0\n") == nil)
        #expect(ProcessHardening.tracer(inStatus: "Name:\tx\nTracerPid:\t4711\nUid:\t0\n") == 4_711)
        #expect(ProcessHardening.tracer(inStatus: "") == nil)
        #expect(ProcessHardening.tracer() == nil)
    }

    @Test(arguments: ["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_DEBUG_OUTPUT", "GCONV_PATH", "GLIBC_TUNABLES"])
    func variablesThatLoadCodeAreDetected(name: String) {
        #expect(ProcessHardening.changesLoading(name))
    }

    @Test(arguments: ["PATH", "OLD_LD", "HOME", "APPLOCKER_SOCKET"])
    func otherVariablesAreNotDetected(name: String) {
        #expect(!ProcessHardening.changesLoading(name))
    }
}
