import ControlAPI
public import Observation

/// Where a backup is written. Called from the main actor; an implementation may run on any executor.
public protocol BackupTarget: Sendable {
    func write(_ bytes: [UInt8]) async throws
    /// Makes the file durable under its name.
    func finish() async throws
    /// Removes what was written.
    func discard() async
}

/// Writes a sealed backup.
@MainActor @Observable
public final class BackupModel {
    /// 0 to 1 while a backup is written; nil otherwise.
    public private(set) var progress: Double?
    /// The result of the last export; empty before.
    public private(set) var outcome = ""

    private let context: DesktopContext
    @ObservationIgnored private var isCancelled = false

    public init(_ context: DesktopContext) { self.context = context }

    /// - Parameters:
    ///   - settingsOnly: only the list of apps, its rules and the settings.
    ///   - makeTarget: opens the file, once the daemon has sealed the backup.
    public func export(settingsOnly: Bool, to makeTarget: @escaping () async throws -> any BackupTarget) async {
        guard progress == nil else { return }
        isCancelled = false
        outcome = ""
        await context.attempt {
            let question = PasscodeQuestion(
                title: "Export a backup",
                explanation: "The backup opens with this passcode, on any computer, also after you change it.",
                verb: "Export")
            let reply = try await context.prompt.ask(question) { [control = context.control] passcode in
                // The export contains sealed content only with an open vault.
                try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
                return try await control.call(
                    \.exportBackup,
                    body: ExportRequest(passcode: passcode, passphrase: nil, settingsOnly: settingsOnly))
            }
            defer { progress = nil }
            progress = 0
            do {
                try await write(reply, to: try await makeTarget())
                outcome =
                    "Exported \(SpokenDuration.count(reply.apps, "app")) and "
                    + "\(SpokenDuration.count(reply.records, "sealed item"))."
            } catch {
                _ = try? await context.control.call(\.removeBlob, parameter: reply.blob)
                throw error
            }
            _ = try? await context.control.call(\.removeBlob, parameter: reply.blob)
        }
    }

    /// Stops after the current piece; the incomplete file is removed.
    public func cancel() { isCancelled = true }

    private func write(_ reply: ExportReply, to target: any BackupTarget) async throws {
        do {
            var offset: UInt64 = 0
            while offset < reply.size {
                let piece = try await context.control.readBlob(reply.blob, offset: offset)
                guard !piece.isEmpty else {
                    throw ControlError(.failed, "The backup ended before its end. Export it again.")
                }
                if isCancelled { throw CancellationError() }
                try await target.write(piece)
                offset += UInt64(piece.count)
                progress = Double(offset) / Double(reply.size)
            }
            try await target.finish()
        } catch {
            await target.discard()
            throw error
        }
    }
}
