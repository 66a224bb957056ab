import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct BackupModelTests {
    private final class Target: BackupTarget {
        let state = Mutex((bytes: [UInt8](), isFinished: false, isDiscarded: false))
        let onWrite: @Sendable () async -> Void

        init(onWrite: @escaping @Sendable () async -> Void = {}) { self.onWrite = onWrite }

        func write(_ bytes: [UInt8]) async throws {
            state.withLock { $0.bytes += bytes }
            await onWrite()
        }
        func finish() async throws { state.withLock { $0.isFinished = true } }
        func discard() async { state.withLock { $0.isDiscarded = true } }
    }

    private let control = FakeControl()
    private let context: DesktopContext
    private let model: BackupModel
    private let content = [UInt8](repeating: 7, count: ControlRoute.maximumBlobPiece + 5)

    init() {
        context = makeContext(control)
        model = BackupModel(context)
        control.setBlob(content)
        control.on(\.openVault) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return VaultStatus(vault: "v", isOpen: true, user: 1_000)
        }
        let size = UInt64(content.count)
        control.on(\.exportBackup) { _ in ExportReply(blob: "b", size: size, apps: 1, records: 2, blobs: 0) }
        control.on(\.removeBlob) { _ in DoneReport() }
    }

    private func export(to target: Target) async {
        async let done: Void = model.export(settingsOnly: false) { target }
        await answer(context.prompt)
        await done
    }

    @Test func aBackupIsWrittenWholeAndItsBlobRemoved() async {
        let target = Target()
        await export(to: target)
        #expect(target.state.withLock { $0.bytes == content && $0.isFinished && !$0.isDiscarded })
        #expect(model.outcome == "Exported 1 app and 2 sealed items." && model.progress == nil)
        #expect(control.requests(.removeBlob).map(\.parameter) == ["b"])
    }

    @Test func contentThatIsLeftOutIsCountedAndNotNamed() async {
        let size = UInt64(content.count)
        control.on(\.exportBackup) { _ in
            ExportReply(
                blob: "b", size: size, apps: 1, records: 2, blobs: 0,
                incomplete: [.init(collection: "files", id: "f", name: "secret.txt")])
        }
        await export(to: Target())
        #expect(
            model.outcome == "Exported 1 app and 2 sealed items. "
                + "The content of 1 item can't be read here and is left out.")
    }

    @Test func aCancelledExportLeavesNothing() async {
        let target = Target { [model] in await model.cancel() }
        await export(to: target)
        #expect(target.state.withLock { $0.isDiscarded && !$0.isFinished })
        #expect(model.outcome.isEmpty && model.progress == nil && context.announcements == 0)
        #expect(control.requests(.removeBlob).count == 1)
    }

    @Test func thePasscodeDialogClosesBeforeTheBackupIsSealed() async {
        let sealing = FakeControl.Hold()
        let size = UInt64(content.count)
        control.on(\.exportBackup) { _ in
            try await sealing.wait()
            return ExportReply(blob: "b", size: size, apps: 1, records: 2, blobs: 0)
        }
        let target = Target()
        async let done: Void = export(to: target)
        await eventually("the backup is being sealed") { control.requests(.exportBackup).count == 1 }
        #expect(context.prompt.question == nil && model.isWorking && model.canCancel)
        // Neither a second export nor anything else begins meanwhile.
        await model.export(settingsOnly: false) { target }
        await model.eraseEverything()
        #expect(context.prompt.question == nil && control.requests(.openVault).count == 1)
        model.cancel()
        #expect(!model.canCancel)
        sealing.end()
        await done
        #expect(!model.isWorking && target.state.withLock { $0.bytes.isEmpty && !$0.isFinished })
        #expect(control.requests(.removeBlob).map(\.parameter) == ["b"] && context.announcements == 0)
    }

    @Test func anExportOfTheSettingsLeavesTheVaultLocked() async throws {
        let target = Target()
        async let done: Void = model.export(settingsOnly: true) { target }
        await answer(context.prompt)
        await done
        #expect(control.requests(.openVault).isEmpty && target.state.withLock { $0.isFinished })
        #expect(try control.requests(.exportBackup).map { try $0.body(as: ExportRequest.self).settingsOnly } == [true])
    }

    @Test func aTruncatedBackupIsNoBackup() async {
        control.setBlob(Array(content.prefix(100)))
        let target = Target()
        await export(to: target)
        #expect(target.state.withLock { $0.isDiscarded && !$0.isFinished })
        #expect(context.announcement == "The backup is incomplete. Export it again.")
    }
}

@MainActor
struct BackupImportTests {
    private struct Source: BackupSource {
        let bytes: [UInt8]
        var onRead: @Sendable () async -> Void = {}
        var size: UInt64 { UInt64(bytes.count) }

        func read(at offset: UInt64, count: Int) async throws -> [UInt8] {
            await onRead()
            return Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
    }

    private let control = FakeControl()
    private let context: DesktopContext
    private let model: BackupModel
    private let source = Source(bytes: (0..<ControlRoute.maximumBlobPiece + 5).map { UInt8(truncatingIfNeeded: $0) })

    init() {
        context = makeContext(control)
        model = BackupModel(context)
        control.on(\.openVault) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return VaultStatus(vault: "v", isOpen: true, user: 1_000)
        }
        control.on(\.importBackup) { _ in
            ImportReport(
                version: 2, created: "2026-01-31", appsAdded: ["Firefox"], recordsAdded: 2,
                notes: ["Mail is not installed."])
        }
        control.on(\.removeBlob) { _ in DoneReport() }
    }

    private func imports() throws -> [ImportRequest] {
        try control.requests(.importBackup).map { try $0.body(as: ImportRequest.self) }
    }

    @Test func whatWouldChangeIsShownBeforeAnythingIsImported() async throws {
        async let done: Void = model.importBackup(from: source)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        #expect(
            model.confirmation.question?.text
                == "Apps to lock: Firefox.\nNotes, files and photos that are missing here: 2.\nMail is not installed.")
        #expect(try imports().map(\.isTrial) == [true] && control.blob == source.bytes)
        model.confirmation.answer(true)
        await done
        #expect(try imports().map(\.isTrial) == [true, false])
        #expect(try imports().allSatisfy { $0.mode == .merge && $0.passcode == FakeControl.passcode })
        #expect(model.importOutcome.hasPrefix("Imported. Apps to lock: Firefox."))
        #expect(try control.requests(.removeBlob).map(\.parameter) == [imports()[0].blob])
    }

    @Test func replacingNamesWhatIsRemovedBeforeItIs() async throws {
        control.on(\.importBackup) { _ in
            ImportReport(version: 2, created: "2026-01-31", appsRemoved: ["Chess"], recordsAdded: 2, recordsRemoved: 3)
        }
        async let done: Void = model.importBackup(from: source, replaces: true)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        #expect(
            model.confirmation.question
                == ImportQuestion(
                    text: """
                        Apps that are no longer locked: Chess.
                        Notes, files, moments and photos that are removed here: 3.
                        Notes, files, moments and photos that are added or overwritten: 2.
                        Settings and categories become those of the backup.
                        """, replaces: true))
        model.confirmation.answer(true)
        await done
        #expect(try imports().map(\.mode) == [.replace, .replace] && imports().map(\.isTrial) == [true, false])
    }

    @Test func aRefusedImportChangesNothing() async throws {
        async let done: Void = model.importBackup(from: source)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        model.confirmation.answer(false)
        await done
        #expect(try imports().map(\.isTrial) == [true])
        #expect(model.importOutcome.isEmpty && control.requests(.removeBlob).count == 1)
    }

    @Test func noSecondImportBeginsWhileOneIsChecked() async throws {
        let checking = FakeControl.Hold()
        control.on(\.importBackup) { _ in
            try await checking.wait()
            return ImportReport(version: 2, created: "2026-01-31", appsAdded: ["Firefox"])
        }
        async let first: Void = model.importBackup(from: source)
        await answer(context.prompt)
        await eventually("the backup is being checked") { control.requests(.importBackup).count == 1 }
        #expect(model.isWorking && model.progress == nil)
        await model.importBackup(from: source, replaces: true)
        #expect(context.prompt.question == nil)
        checking.end()
        await eventually("the question is shown") { model.confirmation.question != nil }
        #expect(model.confirmation.question?.replaces == false)
        model.confirmation.answer(true)
        await first
        #expect(try imports().map(\.isTrial) == [true, false] && !model.isWorking)
        #expect(control.requests(.removeBlob).count == 1)
    }

    @Test func anImportIsCancelledUntilItIsConfirmed() async throws {
        async let done: Void = model.importBackup(from: source)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        model.cancel()
        await done
        #expect(try imports().map(\.isTrial) == [true] && model.confirmation.question == nil && !model.isWorking)
    }

    @Test func everythingIsErasedOnlyWithThePasscode() async throws {
        control.on(\.reset) { request in
            try FakeControl.check(try request.body(as: ResetRequest.self).passcode)
            return DoneReport(notes: [
                "Everything is erased. Set AppLocker up again with `applocker setup`.", "The hub keeps its data.",
            ])
        }
        async let done: Void = model.eraseEverything()
        await answer(context.prompt)
        await done
        let request = try #require(control.requests(.reset).last).body(as: ResetRequest.self)
        #expect(request.confirmation == ResetRequest.confirmationText)
        #expect(context.announcement == "Everything is erased. The hub keeps its data.")
    }

    @Test func theOtherPasscodeOfABackupIsAskedForUntilItOpens() async throws {
        control.on(\.importBackup) { request in
            guard try request.body(as: ImportRequest.self).passphrase == "earlier passcode" else {
                throw ControlError(.notReadable, "The passphrase does not open this backup.")
            }
            return ImportReport(version: 2, created: "")
        }
        async let done: Void = model.importBackup(from: source)
        await answer(context.prompt)
        await eventually("the other passcode is asked for") {
            context.prompt.question?.title == "The backup has another passcode"
        }
        await context.prompt.submit("a guess")
        #expect(context.prompt.refusal == "The passphrase does not open this backup.")
        await context.prompt.submit("earlier passcode")
        await eventually("the question is shown") { model.confirmation.question != nil }
        #expect(model.confirmation.question?.text == "Everything in it is on this computer already.")
        model.confirmation.answer(true)
        await done
        #expect(try imports().last?.isTrial == false && imports().last?.passphrase == "earlier passcode")
    }

    @Test func aCancelledReadLeavesNothing() async throws {
        let model = model
        var source = source
        source.onRead = { await model.cancel() }
        async let done: Void = model.importBackup(from: source)
        await answer(context.prompt)
        await done
        #expect(try imports().isEmpty && control.requests(.removeBlob).count == 1)
        #expect(model.progress == nil && model.confirmation.question == nil && context.announcements == 0)
    }
}
