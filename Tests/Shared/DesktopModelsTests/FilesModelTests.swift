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
        }
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
}
