import CLinux
import Glibc
import SystemTestSupport
import TestSupport
import Testing

@testable import LaunchGate

@Suite struct FileHandleTests {
    @Test(.requires(.root)) func `a file is found by its handle after it was moved`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("", to: "before")
        let handle = try #require(FileHandle(of: try Self.opened(file)))
        #expect(rename(file, directory.path("after")) == 0)
        guard case .file = HandleFileSystems().open(handle) else {
            Issue.record("not found")
            return
        }
    }

    @Test(.requires(.root)) func `without free descriptors no file is reported as on an unmounted file system`() throws
    {
        let directory = try TemporaryDirectory()
        let handle = try #require(FileHandle(of: try Self.opened(try directory.write("", to: "file"))))
        var usual = rlimit()
        try #require(getrlimit(__rlimit_resource_t(7), &usual) == 0)
        // None free: the mounts can't be read. One: only the first of them can be opened.
        for spare in 0...1 {
            let highest = try Self.opened(directory.path)
            var short = rlimit(rlim_cur: rlim_t(highest.number) + 1 + rlim_t(spare), rlim_max: usual.rlim_max)
            try #require(setrlimit(__rlimit_resource_t(7), &short) == 0)
            let fileSystems = HandleFileSystems()
            let opened = fileSystems.open(handle)
            setrlimit(__rlimit_resource_t(7), &usual)
            guard case .unknown(let refused?) = opened else {
                Issue.record("\(spare): \(opened)")
                continue
            }
            #expect(refused.isShortage)
        }
    }

    private static func opened(_ path: String) throws -> Descriptor {
        try Descriptor(clinux_open_path(path), "open")
    }
}
