import FileLocking
import Foundation
import Glibc
import SystemTestSupport
import TestSupport
import Testing

@Suite("A locker that is killed")
struct KilledLockerTests {
    /// A few dozen times in every run; APPLOCKER_LONG=1 makes it 500.
    @Test("leaves each file or its complete locked form, and the next run clears up")
    func killed() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
        let directory = try TemporaryDirectory()
        let program = try BuiltProducts.path("seal-speed")
        let key = String(repeating: "c3", count: 48)
        var originals: [String: Data] = [:]
        for number in 0..<6 {
            let name = "file\(number)"
            originals[name] = content(100_000 * number * number + 10)
            _ = try directory.write(originals[name]!, to: name)
        }
        // The kills are spread over the duration of a run. A run that ends before its kill lowers the estimate, each
        // kill raises it: the load of the machine changes.
        let clock = ContinuousClock()
        let start = clock.now
        for word in ["lock", "unlock"] {
            #expect(try await ChildProcess(program, [word, key, directory.path]).wait() == .code(0))
        }
        var whole = start.duration(to: clock.now) / 2
        var killed = 0
        var leftovers = 0
        for attempt in 0..<(isLong ? 500 : 40) {
            let child = try ChildProcess(program, [attempt.isMultiple(of: 2) ? "lock" : "unlock", key, directory.path])
            try await Task.sleep(for: whole * Double.random(in: 0...1.1))
            child.kill(SIGKILL)
            if try await child.wait() == .signal(SIGKILL) {
                killed += 1
                whole = whole * 1.2
            } else if let start = child.startInstant, let end = child.exitInstant {
                whole = start.duration(to: end)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            leftovers += names.count { $0.hasPrefix(".applocker-") }
            for (name, original) in originals {
                if names.contains(name) {
                    #expect(try bytes(directory.path(name)) == original)
                } else {
                    #expect(names.contains(name + ".aplk"), "\(name) is gone after \(attempt)")
                }
            }
        }
        // Both may exist after a kill: a run that finishes completes those too.
        for word in ["lock", "unlock"] {
            let child = try ChildProcess(program, [word, key, directory.path])
            #expect(try await child.wait() == .code(0), "\(child.errorOutput)")
        }
        #expect(directory.names == originals.keys.sorted())
        for (name, original) in originals { #expect(try bytes(directory.path(name)) == original) }
        #expect(killed > (isLong ? 200 : 10), "only \(killed) runs were killed before they ended")
        #expect(leftovers > 0, "no run was killed while it wrote")
    }
}
