// What the benchmark measures and what a test kills: the file locker without a daemon, under a vault key that is given.
//
//   seal-speed memory seal|open SIZE CHUNK ROUNDS   rate in memory, bytes a second of processor time
//   seal-speed lock|unlock KEY PATH...              in place; KEY: 64 hexadecimal digits of a vault key and 32 of its vault
//   seal-speed pipe SIZE                            seals SIZE bytes that are made as they are read, to nowhere
import FileLocking
import Foundation
import SealedFormats

/// Seals under one vault key of its own.
struct KeyHolder: LockedFileSealing {
    let vault: ItemID
    let key: SecretBytes

    func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader {
        let name = LockedFileHeader.name(vault: vault, id: id)
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: key, epoch: 1)
        return LockedFileHeader(vault: vault, id: id, envelope: envelope)
    }

    func open(_ header: LockedFileHeader) async throws -> Data {
        try header.envelope.open(as: LockedFileHeader.name(vault: vault, id: header.id), vaultKey: key)
    }

    func earlierPasscode(for path: String) async throws -> SecretBytes { SecretBytes(utf8: "none") }
}

/// Bytes a second of processor time, the kernel's part for memory included: what other programs do at the same time does
/// not change it much. `openssl speed` counts in the same way, without the kernel's part.
func memoryRate(_ isSealing: Bool, size: Int, chunk: ContentStream.ChunkSize, rounds: Int) throws -> Double {
    let name = ContentStream.Name(purpose: "speed")
    let plaintext = Data((0..<min(size, chunk.bytes)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let chunks = max(1, size / chunk.bytes)
    let repeats = max(1, (256 << 20) / (chunks * plaintext.count))
    let stream = ContentStream(
        sealing: name, key: SecretBytes.random(count: ContentStream.keyLength), chunkSize: chunk)
    // For opening, each chunk is the first and only one of a stream: the work is the same.
    let sealed = stream.seal(plaintext, index: 0, isLast: true)
    let start = clock()
    for _ in 0..<rounds * repeats {
        for index in 0..<chunks {
            if isSealing {
                _ = stream.seal(plaintext, index: UInt32(index), isLast: index == chunks - 1)
            } else {
                _ = try stream.open(sealed, index: 0, isLast: true)
            }
        }
    }
    let time = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    return Double(rounds * repeats * chunks * plaintext.count) / time
}

func run(_ words: [String]) async throws {
    switch words.first {
    case "memory" where words.count == 5:
        guard let size = Int(words[2]), let bytes = Int(words[3]), let rounds = Int(words[4]),
            let chunk = ContentStream.ChunkSize.allCases.first(where: { $0.bytes == bytes })
        else { throw WrongUsage() }
        print(Int(try memoryRate(words[1] == "seal", size: size, chunk: chunk, rounds: rounds)))
    case "pipe" where words.count == 2:
        guard var left = Int(words[1]) else { throw WrongUsage() }
        let key = SecretBytes.random(count: ContentStream.keyLength)
        let sealer = ContentSealer(ContentStream(sealing: .init(purpose: "speed"), key: key)) { buffer in
            let count = min(left, buffer.count)
            memset(buffer.baseAddress!, Int32(truncatingIfNeeded: left), count)
            left -= count
            return count
        }
        var size = 0
        while let piece = try sealer.next() { size += piece.count }
        print(size)
    case "lock" where words.count > 2, "unlock" where words.count > 2:
        guard let vault = ItemID(String(words[1].suffix(32))), let first = ItemID(String(words[1].prefix(32))),
            let second = ItemID(String(words[1].dropFirst(32).prefix(32))), words[1].count == 96
        else { throw WrongUsage() }
        var key = first.bytes + second.bytes
        let locker = FileLocker(sealing: KeyHolder(vault: vault, key: SecretBytes(wiping: &key)))
        let selection = try await FileSelection.find(
            Array(words.dropFirst(2)), .init(purpose: words[0] == "lock" ? .lock : .unlock))
        for file in selection.skipped where file.isFailure { throw Refused(sentence: file.sentence) }
        for file in selection.files {
            _ = words[0] == "lock" ? try await locker.lock(file) : try await locker.unlock(file)
        }
    default:
        throw WrongUsage()
    }
}

struct WrongUsage: Error, CustomStringConvertible {
    var description: String { "seal-speed memory|pipe|lock|unlock ...: see its source" }
}

struct Refused: Error, CustomStringConvertible {
    let sentence: String
    var description: String { sentence }
}

do {
    try await run(Array(CommandLine.arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
