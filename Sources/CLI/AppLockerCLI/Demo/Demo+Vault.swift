import ControlAPI
import Foundation
import LocalControl

extension Demo {
    private static let secret = "the blue door opens with 4711"

    /// Adds a note to the vault, shows its bytes on disk, and locks the vault.
    func sealANote() async throws {
        narrator.step("6. Seal a note")
        try await client.call(\.openVault, body: PasscodeRequest(passcode: passcode.text))
        let saved = try await client.call(\.addNote, body: NoteRequest(title: "Door", body: Self.secret))
        let read = try await client.call(\.readNote, parameter: saved.note.id)
        narrator.check(
            read.body == Self.secret, "With the vault open it reads: \(read.body).",
            otherwise: "It differs from what was written.")
        let files = try filesOfState()
        let isInClear = files.contains { $0.content.range(of: Data(Self.secret.utf8)) != nil }
        narrator.check(
            !isInClear && files.contains { $0.name == "applocker.sqlite" },
            "None of its words is in the \(files.count) files that AppLocker stores.",
            otherwise: "Its words are on the disk unsealed, or there is no database.")
        try await client.call(\.closeVault)
        do {
            let note = try await client.call(\.readNote, parameter: saved.note.id)
            narrator.fail("With the vault locked it still reads: \(note.body)")
        } catch let error as ControlError {
            narrator.check(
                error.code == .vaultLocked, "Locked: \(error.message.terminalSafe)",
                otherwise: "With the vault locked the answer was \(error.code.rawValue).")
        }
    }

    private func filesOfState() throws -> [(name: String, content: Data)] {
        let state = URL(fileURLWithPath: program.path).deletingLastPathComponent().appendingPathComponent("state")
        let names = FileManager.default.enumerator(atPath: state.path)?.compactMap { $0 as? String } ?? []
        return names.compactMap { name in
            let file = state.appendingPathComponent(name)
            var status = stat()
            guard lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return (try? Data(contentsOf: file)).map { (name, $0) }
        }
    }

    func verifyTheLog() async throws {
        let verification = try await client.call(\.verifyLog)
        narrator.check(
            verification.isWhole,
            "The log is unchanged: \(verification.links) events, each signed and naming the one before.",
            otherwise: verification.sentence)
    }
}
