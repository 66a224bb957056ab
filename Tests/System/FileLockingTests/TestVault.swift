import FileLocking
import Foundation
import Glibc
import SealedFormats
import Synchronization
import TestSupport
import Testing

/// Seals headers under its own vault key, as the daemon does.
struct TestVault: LockedFileSealing {
    let vault = ItemID.random()
    let key = SecretBytes.random(count: 32)
    var passcode = "hunter2"

    func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader {
        let name = LockedFileHeader.name(vault: vault, id: id)
        return LockedFileHeader(
            vault: vault, id: id, envelope: try RecordEnvelope(sealing: body, as: name, vaultKey: key, epoch: 1))
    }

    func open(_ header: LockedFileHeader) async throws -> Data {
        try header.envelope.open(as: LockedFileHeader.name(vault: header.vault, id: header.id), vaultKey: key)
    }

    func earlierPasscode(for path: String) async throws -> SecretBytes { SecretBytes(utf8: passcode) }

    /// Selects files and locks them; throws the first one that is skipped or fails.
    @discardableResult
    func lock(
        _ path: String, keeping: Bool = false, chunkSize: ContentStream.ChunkSize = .mebi1,
        progress: @escaping FileLocker.Progress = { _, _, _ in }
    ) async throws -> [FileLocker.Outcome] {
        try await work(path, .lock, keeping, chunkSize, progress)
    }

    @discardableResult
    func unlock(
        _ path: String, keeping: Bool = false, progress: @escaping FileLocker.Progress = { _, _, _ in }
    ) async throws -> [FileLocker.Outcome] {
        try await work(path, .unlock, keeping, .mebi1, progress)
    }

    private func work(
        _ path: String, _ purpose: FileSelection.Purpose, _ keeping: Bool, _ chunkSize: ContentStream.ChunkSize,
        _ progress: @escaping FileLocker.Progress
    ) async throws -> [FileLocker.Outcome] {
        var options = FileLocker.Options()
        options.keepsOriginal = keeping
        options.chunkSize = chunkSize
        let locker = FileLocker(sealing: self, options: options, progress: progress)
        let selection = try await FileSelection.find([path], .init(purpose: purpose))
        if let file = selection.skipped.first(where: \.isFailure) { throw Skipped(description: file.sentence) }
        var outcomes: [FileLocker.Outcome] = []
        for file in selection.files {
            outcomes.append(try await purpose == .lock ? locker.lock(file) : locker.unlock(file))
        }
        return outcomes
    }

    struct Skipped: Error, CustomStringConvertible { let description: String }
}

/// The message of the refusal; records an issue if there is no refusal.
func refusal(_ work: () async throws -> Void) async -> String {
    do {
        try await work()
    } catch {
        return "\(error)"
    }
    Issue.record("nothing was refused")
    return ""
}

extension TemporaryDirectory {
    func write(_ bytes: Data, to name: String) throws -> String {
        let path = self.path(name)
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Everything below, sorted.
    var names: [String] { ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).sorted() }
}

func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status
}

/// The same bytes each time, without short repetitions.
func content(_ count: Int) -> Data {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    var data = Data(capacity: count + 8)
    while data.count < count {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
    }
    return data.prefix(count)
}
