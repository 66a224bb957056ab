import FileLocking
import Foundation
import SealedFormats
import Synchronization
import TestSupport
import Testing

/// Several files in one run.
@Suite struct InPlaceRunTests {
    private let directory: TemporaryDirectory
    private let vault = TestVault()

    init() throws { directory = try TemporaryDirectory() }

    /// Refuses what another vault has sealed, as the daemon's answer is read.
    private struct RefusingVault: LockedFileSealing {
        let vault: TestVault

        func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader { try await vault.seal(body, id: id) }

        func open(_ header: LockedFileHeader) async throws -> Data {
            guard header.vault == vault.vault else { throw FileLockingError(.damaged, "It is of another vault.") }
            return try await vault.open(header)
        }

        func earlierPasscode(for path: String) async throws -> SecretBytes { SecretBytes(utf8: "") }
    }

    private func run(
        _ purpose: FileSelection.Purpose, _ paths: [String],
        progress: @escaping @Sendable (InPlaceRun.Progress) -> Void = { _ in }
    ) async throws -> InPlaceReport {
        try await InPlaceRun(
            .init(purpose: purpose), keepsOriginals: false, sealing: RefusingVault(vault: vault)
        ).run(paths, progress: progress)
    }

    @Test func aFileOfAnotherVaultIsNamedAndTheOthersAreUnlocked() async throws {
        let folder = directory.path("tree")
        for name in ["a", "b", "c"] { try directory.write("text of \(name)", to: "tree/\(name)") }
        try await TestVault().lock(folder + "/b")
        try await vault.lock(folder + "/a")
        try await vault.lock(folder + "/c")
        let report = try await run(.unlock, [folder])
        #expect(report.files.map(\.path) == [folder + "/a", folder + "/c"])
        let path = folder + "/b.aplk"
        #expect(
            report.skipped.map(\.message) == [
                "\(path) can't be unlocked and was left as it is: It is of another vault."
            ])
        #expect(report.skipped.map(\.code) == ["damaged"] && report.skipped.map(\.isFailure) == [true])
        #expect(directory.names == ["tree", "tree/a", "tree/b.aplk", "tree/c"])
    }

    @Test func aFileBesideAnotherVaultsSealedOneIsNotLocked() async throws {
        let path = try directory.write("first", to: "a")
        try await TestVault().lock(path)
        try directory.write("second", to: "a")
        let report = try await run(.lock, [path])
        #expect(report.files.isEmpty && report.skipped.map(\.code) == ["already_exists"])
        #expect(directory.names == ["a", "a.aplk"])
    }

    @Test func aFileThatIsNamedTwiceIsLockedOnce() async throws {
        let path = try directory.write("text", to: "tree/a")
        let report = try await run(.lock, [path, directory.path("tree"), path])
        #expect(report.files.map(\.from) == [path] && report.skipped.isEmpty)
        let unlocked = try await run(.unlock, [path, path + ".aplk"])
        #expect(unlocked.files.map(\.path) == [path] && unlocked.skipped.isEmpty)
    }

    @Test func theProgressIsOfAllFilesAndCountsBothReadings() async throws {
        for name in ["a", "b"] { _ = try directory.write(content(3_000_000), to: name) }
        let shown = Mutex<[InPlaceRun.Progress]>([])
        _ = try await run(.lock, [directory.path("a"), directory.path("b")]) { one in shown.withLock { $0.append(one) }
        }
        let all = shown.withLock { $0 }
        #expect(all.allSatisfy { $0.total == 12_000_000 && $0.count == 2 })
        #expect(Set(all.map(\.index)) == [0, 1])
        #expect(all.first?.done == 0 && all.map(\.done).max() == 12_000_000)
    }
}
