import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct FilesModelTests {
    /// Files of a test: what was asked for, and what happens then.
    private final class Transfer: FileTransfer {
        struct State {
            var added: [(path: String, removesOriginal: Bool)] = []
            var onAdd: @Sendable (String, @escaping FileTransfer.ProgressHandler) async throws -> Void = { _, _ in }
            var changed: [(change: InPlaceChange, paths: [String], keepsOriginals: Bool)] = []
            var onChange: @Sendable (EarlierPasscode) async throws -> InPlaceOutcome = { _ in InPlaceOutcome(paths: [])
            }
        }
        typealias EarlierPasscode = @Sendable (_ name: String) async throws -> String
        let state = Mutex(State())

        func add(_ path: String, to vault: String, removesOriginal: Bool, progress: @escaping ProgressHandler)
            async throws
        {
            let body = state.withLock { state in
                state.added.append((path, removesOriginal))
                return state.onAdd
            }
            try await body(path, progress)
        }

        func write(_ content: FileContent, into folder: String, progress: @escaping ProgressHandler) async throws
            -> String
        {
            folder + "/" + content.file.name
        }

        func changeInPlace(
            _ change: InPlaceChange, _ paths: [String], keepsOriginals: Bool,
            earlierPasscode: @escaping EarlierPasscode, progress: @escaping ProgressHandler
        ) async throws -> InPlaceOutcome {
            let body = state.withLock { state in
                state.changed.append((change, paths, keepsOriginals))
                return state.onChange
            }
            return try await body(earlierPasscode)
        }
    }

    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let transfer = Transfer()
    private let model: FilesModel
    private let taxes = FileReport(id: "f", name: "taxes.pdf", size: 9, added: TestClock.start, modified: 1)

    init() {
        context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        model = FilesModel(context, vault, transfer)
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.closeVault) { _ in VaultStatus(vault: "v", isOpen: false) }
        control.on(\.listFiles) { [taxes] _ in FileList(files: [taxes], unreadable: 2) }
    }

    @Test func filesAreSealedInOrderAndThenListed() async {
        await model.add(["/home/a/one", "/home/a/two"], removesOriginals: true)
        #expect(transfer.state.withLock { $0.added.map(\.path) } == ["/home/a/one", "/home/a/two"])
        #expect(transfer.state.withLock { $0.added.allSatisfy(\.removesOriginal) })
        #expect(context.announcement == "2 files locked." && model.work == nil)
        #expect(model.files == [taxes] && model.unreadable == 2)
    }

    @Test func theProgressIsOfAllFiles() async {
        let model = model
        let shown = Mutex<[String]>([])
        transfer.state.withLock {
            $0.onAdd = { path, progress in
                progress(0.5)
                let end = path.hasSuffix("one") ? 0.25 : 0.75
                await eventually("half of it is shown") { await model.work?.part == end }
                if let work = await model.work { shown.withLock { $0.append("\(work.title): \(work.part)") } }
            }
        }
        await model.add(["/home/a/one", "/home/a/two"], removesOriginals: false)
        #expect(shown.withLock { $0 } == ["Locking one (1 of 2): 0.25", "Locking two (2 of 2): 0.75"])
    }

    @Test func afterAFailureTheRestIsLeftAlone() async {
        struct Full: Error, CustomStringConvertible { let description = "The disk has no space." }
        transfer.state.withLock { $0.onAdd = { path, _ in if path == "/b" { throw Full() } } }
        await model.add(["/a", "/b", "/c"], removesOriginals: true)
        #expect(transfer.state.withLock { $0.added.map(\.path) } == ["/a", "/b"])
        #expect(context.announcement == "The disk has no space." && model.work == nil)
        #expect(model.files == [taxes], "what was locked before is listed")
    }

    @Test func cancellingEndsTheFileAndSaysNothing() async {
        let model = model
        transfer.state.withLock {
            $0.onAdd = { _, _ in
                await model.cancel()
                try Task.checkCancellation()
            }
        }
        await model.add(["/a", "/b"], removesOriginals: true)
        #expect(transfer.state.withLock { $0.added.count } == 1)
        #expect(context.announcements == 0 && model.work == nil)
    }

    @Test func lockingTheVaultEndsTheWorkAndForgetsTheNames() async {
        let (model, vault) = (model, vault)
        await vault.refresh()
        await model.load()
        transfer.state.withLock {
            $0.onAdd = { _, _ in
                await vault.lock()
                try Task.checkCancellation()
            }
        }
        control.on(\.listFiles) { _ in throw ControlError(.vaultLocked, "The vault is locked.") }
        await model.add(["/a"], removesOriginals: true)
        #expect(model.files.isEmpty && model.unreadable == 0 && model.work == nil)
        #expect(context.announcements == 0)
    }

    @Test func aCopyIsSavedUnderTheNameOfTheFile() async {
        control.on(\.readFile) { [taxes] request in
            #expect(request.parameter == "f")
            return FileContent(file: taxes, vault: "v", mode: 0o600, sealedSize: 25, contentKey: Data())
        }
        await model.save(taxes, into: "/media/stick")
        #expect(context.announcement == "Saved as /media/stick/taxes.pdf.")
    }

    // MARK: In place

    @Test func oneLockedFileIsNamedByItsPath() async {
        transfer.state.withLock { $0.onChange = { _ in InPlaceOutcome(paths: ["/home/a/taxes.pdf.aplk"]) } }
        await model.changeInPlace(.lock, ["/home/a/taxes.pdf"])
        #expect(model.outcome == ["Locked as /home/a/taxes.pdf.aplk."])
        #expect(transfer.state.withLock { $0.changed.map(\.keepsOriginals) } == [false] && model.work == nil)
    }

    @Test func filesThatCouldNotBeUnlockedAreCountedAndExplained() async {
        transfer.state.withLock {
            $0.onChange = { _ in
                InPlaceOutcome(paths: ["/a/1", "/a/2"], sentences: ["/a/3 does not exist."], failures: 1)
            }
        }
        await model.changeInPlace(.unlock, ["/a"], keepsOriginals: true)
        #expect(
            model.outcome == [
                "2 files unlocked. 1 could not be changed and is as it was.", "/a/3 does not exist.",
            ])
        #expect(transfer.state.withLock { $0.changed.map(\.keepsOriginals) } == [true])
    }

    @Test func whatWasNotChangedIsNotCountedAsDone() async {
        transfer.state.withLock { $0.onChange = { _ in InPlaceOutcome(paths: [], failures: 2) } }
        await model.changeInPlace(.lock, ["/a", "/b"])
        #expect(model.outcome == ["2 could not be changed and are as they were."])
        transfer.state.withLock { $0.onChange = { _ in InPlaceOutcome(paths: [], sentences: ["/p is a pipe."]) } }
        await model.changeInPlace(.lock, ["/folder"])
        #expect(model.outcome == ["There was nothing to change.", "/p is a pipe."])
    }

    @Test func lockingTheVaultStopsAChangeInPlaceAndSaysSo() async {
        let vault = vault
        await vault.refresh()
        transfer.state.withLock {
            $0.onChange = { _ in
                await vault.lock()
                try Task.checkCancellation()
                return InPlaceOutcome(paths: ["/a.aplk"])
            }
        }
        await model.changeInPlace(.lock, ["/a"])
        #expect(model.outcome == ["Stopped. The files that were not finished are unchanged."] && model.work == nil)
        #expect(
            context.announcement == "The vault was locked. Stopped. The files that were not finished are unchanged.",
            "the page shows nothing now")
    }

    @Test func aLockedVaultRefusesAChangeInPlace() async {
        await vault.refresh()
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
        transfer.state.withLock { $0.onChange = { _ in throw ControlError(.vaultLocked, "The vault is locked.") } }
        await model.changeInPlace(.unlock, ["/a.aplk"])
        #expect(model.outcome == ["Stopped. The files that were not finished are unchanged."] && !vault.isOpen)
        #expect(context.announcement.hasPrefix("The vault was locked."))
        await model.add([], removesOriginals: false)
        #expect(model.outcome.isEmpty, "it is not of this work")
    }

    @Test func theFormerPasscodeOfAnEarlierFileIsAskedFor() async {
        let prompt = context.prompt
        transfer.state.withLock {
            $0.onChange = { passcode in
                async let answer = passcode("old.txt.aplk")
                await eventually("it is asked for") { await prompt.question?.title == "Unlock old.txt.aplk" }
                await prompt.submit("blue kettle 4")
                return InPlaceOutcome(paths: ["/a/\(try await answer)"])
            }
        }
        await model.changeInPlace(.unlock, ["/a/old.txt.aplk"])
        #expect(model.outcome == ["Unlocked as /a/blue kettle 4."] && prompt.question == nil)
    }

    @Test func stoppingClosesTheQuestionForTheFormerPasscode() async {
        let (prompt, model) = (context.prompt, model)
        transfer.state.withLock { $0.onChange = { InPlaceOutcome(paths: [try await $0("old.txt.aplk")]) } }
        async let done: Void = model.changeInPlace(.unlock, ["/a/old.txt.aplk"])
        await eventually("it is asked for") { prompt.question != nil }
        model.cancel()
        await done
        #expect(prompt.question == nil && model.outcome == ["Stopped. The files that were not finished are unchanged."])
    }
}
