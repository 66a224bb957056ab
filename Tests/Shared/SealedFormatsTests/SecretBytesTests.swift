import Foundation
import SealedFormats
import Testing

@Suite struct SecretBytesTests {
    @Test func theBytesAreThoseThatWereCopied() {
        let source: [UInt8] = [1, 2, 3]
        #expect(source.withUnsafeBytes { SecretBytes(copying: $0) }.withUnsafeBytes { Array($0) } == source)
        #expect(SecretBytes(utf8: "é").withUnsafeBytes { Array($0) } == [0xC3, 0xA9])
        #expect(SecretBytes(utf8: "").count == 0)
        let large = SecretBytes(capacity: 10_000) { buffer in
            for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index) }
            return 9_999
        }
        #expect(large.count == 9_999)
        #expect(large.withUnsafeBytes { $0[9_998] } == UInt8(truncatingIfNeeded: 9_998))
    }

    @Test func wipingInitializersWipeTheirSource() {
        let source = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { source.deallocate() }
        source.copyBytes(from: Array(repeating: UInt8(7), count: 100))
        let secret = SecretBytes(wiping: source)
        #expect(source.allSatisfy { $0 == 0 })
        #expect(secret.withUnsafeBytes { $0.allSatisfy { $0 == 7 } })

        var array: [UInt8] = [1, 2, 3]
        let fromArray = SecretBytes(wiping: &array)
        #expect(array.isEmpty)
        #expect(fromArray.withUnsafeBytes { Array($0) } == [1, 2, 3])
    }

    @Test func equalityComparesEveryByteAndTheLength() {
        let base = SecretBytes.random(count: 64)
        let copy = base.withUnsafeBytes { SecretBytes(copying: $0) }
        #expect(base == copy)
        for index in 0..<64 {
            let changed = SecretBytes(capacity: 64) { buffer in
                base.withUnsafeBytes { buffer.copyMemory(from: $0) }
                buffer[index] ^= 0x80
                return 64
            }
            #expect(base != changed)
        }
        #expect(base != base.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.dropLast())) })
        #expect(SecretBytes(utf8: "") == SecretBytes(utf8: ""))
    }

    @Test func randomBytesDiffer() {
        #expect(Set((0..<100).map { _ in hex(SecretBytes.random(count: 32)) }).count == 100)
    }

    @Test func nothingPrintsTheBytesOrTheirNumber() {
        let secret = SecretBytes(utf8: "hunter2hunter2hunter2")
        var dumped = ""
        dump(["k": secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: Optional(secret)), dumped] {
            #expect(!text.contains("hunter") && !text.contains("21") && !text.contains("count"))
        }
    }

    @Test func anErrorOfTheInitializerIsRethrown() {
        struct Interrupted: Error {}
        #expect(throws: Interrupted.self) {
            try SecretBytes(capacity: 8) { buffer in
                buffer[0] = 1
                throw Interrupted()
            }
        }
    }

    @Test(arguments: [1, 32, 64]) func releasedKeysAreWiped(count: Int) {
        var was: [UInt8] = []
        var address: UnsafeRawPointer?
        do {
            let secret = SecretBytes(capacity: count) { buffer in
                for index in buffer.indices { buffer[index] = UInt8(index + 100) }
                return count
            }
            secret.withUnsafeBytes { bytes in
                was = Array(bytes)
                address = bytes.baseAddress
            }
        }
        // A key's memory stays mapped for other keys, and may be in use again.
        let now = Array(UnsafeRawBufferPointer(start: address, count: count))
        #expect(now != was)
    }

    @Test func thousandsOfKeysDoNotOverlap() {
        let keys = (0..<5_000).map { _ in SecretBytes.random(count: 32) }
        #expect(Set(keys.map { hex($0) }).count == 5_000)
        #expect(Set(keys.map { key in key.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) / 64 } }).count == 5_000)
    }

    @Test func wipingLeavesZeros() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 5000, alignment: 1)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0xAA)
        wipe(UnsafeMutableRawBufferPointer(rebasing: memory[1..<4999]))
        #expect(memory[0] == 0xAA && memory[4999] == 0xAA)
        #expect(memory[1..<4999].allSatisfy { $0 == 0 })
        wipe(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    #if os(Linux)
        /// Keys share their pages, longer secrets have pages of their own.
        @Test(arguments: [4, 64, 65, 5_000])
        func thePagesStayOutOfSwapCoreFilesAndForkedChildren(count: Int) throws {
            let secret = SecretBytes.random(count: count)
            let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            #expect(address.isMultiple(of: count > 64 ? 4_096 : 64))
            #expect(secret.isLockedInMemory)
            // VmFlags of proc(5): locked, not in core dumps, wiped on fork.
            let flags = try #require(try memoryFlags(at: address / 4_096 * 4_096))
            #expect(flags.isSuperset(of: ["lo", "dd", "wf"]), "\(flags)")
        }

        @Test func pagesAreReturnedToTheKernel() throws {
            for _ in 0..<20_000 { #expect(SecretBytes.random(count: 1).count == 1) }
            let line = try #require(try processFile("status").first { $0.hasPrefix("VmLck:") })
            let kilobytes = try #require(line.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }.first)
            #expect(kilobytes < 8192, "80 MB were locked and released")
        }

        @Test func withoutPermissionToLockMemorySecretsAreStillStored() async {
            await #expect(processExitsWith: .success) {
                var none = rlimit(rlim_cur: 0, rlim_max: 0)
                // Root may lock memory beyond the limit.
                guard setrlimit(__rlimit_resource_t(8), &none) == 0, getuid() != 0 || setuid(65534) == 0 else {
                    exit(2)
                }
                let secret = SecretBytes(utf8: "7294")
                exit(!secret.isLockedInMemory && secret == SecretBytes(utf8: "7294") ? EXIT_SUCCESS : EXIT_FAILURE)
            }
        }

        /// The VmFlags of the mapping that holds the address.
        private func memoryFlags(at address: UInt) throws -> Set<Substring>? {
            var isInside = false
            for line in try processFile("smaps") {
                let range = line.prefix { $0 != " " }.split(separator: "-")
                if range.count == 2, let start = UInt(range[0], radix: 16), let end = UInt(range[1], radix: 16) {
                    isInside = start..<end ~= address
                } else if isInside, line.hasPrefix("VmFlags:") {
                    return Set(line.split(separator: " ").dropFirst())
                }
            }
            return nil
        }

        /// Read in a loop: `String(contentsOfFile:)` stops after the first page, because the file's size is 0.
        private func processFile(_ name: String) throws -> [Substring] {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/" + name))
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        }
    #endif
}
