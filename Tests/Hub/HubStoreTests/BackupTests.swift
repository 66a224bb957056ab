import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import SystemTestSupport
import TestSupport
import Testing

/// The backup of a running hub, as docs/operations.md describes it.
@Suite(.requires(.program("sqlite3"))) struct BackupTests {
    private func documentedCommand() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/operations.md").standardizedFileURL
        let text = try String(contentsOf: file, encoding: .utf8)
        let command = text.firstMatch(of: /To back up a running hub: first `sqlite3 hub.sqlite "([^"]+)"`/)?.1
        return String(try #require(command))
    }

    @Test(.timeLimit(.minutes(6))) func theDocumentedBackupEndsWhileTheHubWrites() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteHubStore(path: directory.path("hub/hub.sqlite"))
        let household = try await SampleHousehold.founded(in: store)
        let content = Data(repeating: 7, count: 4 << 20)
        for _ in 0..<32 {
            var record = household.record(bytes: 0)
            record.sealed = content
            _ = try await store.write([record], household: household.id, at: now)
        }
        let writing = Task {
            while !Task.isCancelled {
                _ = try await store.write([household.record()], household: household.id, at: now)
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        let run = try await ChildProcess.run(
            "/usr/bin/env", ["sqlite3", "hub.sqlite", try documentedCommand()],
            workingDirectory: directory.path("hub"), timeout: .seconds(150))
        #expect(run.exit == .code(0), "\(run.output)\(run.errorOutput)")
        writing.cancel()
        try await writing.value
        try await store.close()
        let check = try await ChildProcess.run(
            "/usr/bin/env", ["sqlite3", "copy.sqlite", "PRAGMA integrity_check"],
            workingDirectory: directory.path("hub"), timeout: .seconds(150))
        #expect(check.output == "ok\n")
        let copy = try SQLiteHubStore(path: directory.path("hub/copy.sqlite"))
        #expect(try await copy.household(household.id).records >= 32)
        try await copy.close()
    }
}
