import FileLocking
import Foundation
import SealedFormats
import TestSupport
import Testing

@Suite("A damaged locked file")
struct DamagedFileTests {
    /// 500 in every run; APPLOCKER_LONG=1 makes it 10,000.
    @Test(
        "flipped bits and truncations by the hundred: none can be opened, no content is written, the locked file stays"
    )
    func flipped() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
        let directory = try TemporaryDirectory()
        let vault = TestVault()
        let path = try directory.write(content(700), to: "letter")
        try await vault.lock(path)
        let sealed = try bytes(path + ".aplk")
        let locker = FileLocker(sealing: vault)
        let file = try #require(try await FileSelection.find([path + ".aplk"], .init(purpose: .unlock)).files.first)
        var generator = RepeatableRandom()
        var opened = 0
        for attempt in 0..<(isLong ? 10_000 : 500) {
            var damaged = sealed
            switch attempt % 10 {
            case 0: damaged.removeLast(Int.random(in: 1...sealed.count, using: &generator))
            case 1: damaged.append(Data(count: Int.random(in: 1...40, using: &generator)))
            default:
                let place = Int.random(in: 0..<sealed.count, using: &generator)
                damaged[place] ^= UInt8(1) << UInt8.random(in: 0...7, using: &generator)
            }
            try damaged.write(to: URL(fileURLWithPath: path + ".aplk"))
            do {
                _ = try await locker.unlock(file)
                opened += 1
            } catch let error as FileLockingError {
                #expect(error.code == .damaged)
            } catch {
                // The envelope's own refusal, from the vault.
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names == ["letter.aplk"])
            #expect(try bytes(path + ".aplk") == damaged)
        }
        #expect(opened == 0)
    }

    @Test("of several chunks: truncated, out of order, from another file")
    func pieces() async throws {
        let directory = try TemporaryDirectory()
        let vault = TestVault()
        let path = try directory.write(content(300_000), to: "letter")
        let other = try directory.write(content(300_000), to: "other")
        try await vault.lock(path, chunkSize: .kibi64)
        try await vault.lock(other, chunkSize: .kibi64)
        let sealed = try bytes(path + ".aplk")
        let otherSealed = try bytes(other + ".aplk")
        let piece = 65_536 + 16
        let last = 300_000 - 4 * 65_536 + 16
        let start = sealed.count - 4 * piece - last
        let first = sealed.prefix(start + piece)
        let second = sealed.dropFirst(start + piece).prefix(piece)
        let rest = sealed.dropFirst(start + 2 * piece)
        var forged: [String: Data] = [:]
        forged["truncated"] = sealed.dropLast(last)
        forged["truncated in the middle"] = sealed.dropLast(100_000)
        forged["repeated"] = first + second + second + rest
        forged["out of order"] = sealed.prefix(start) + second + first.suffix(piece) + rest
        forged["from another file"] = sealed.prefix(start) + otherSealed.suffix(sealed.count - start)
        for (kind, bytes) in forged {
            try bytes.write(to: URL(fileURLWithPath: path + ".aplk"))
            _ = await refusal { try await vault.unlock(path) }
            #expect(directory.names == ["letter.aplk", "other.aplk"], "\(kind)")
        }
        try sealed.write(to: URL(fileURLWithPath: path + ".aplk"))
        try await vault.unlock(path)
    }
}
