import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct MomentsModelTests {
    /// Photos of a test: what was asked for, and what happens then.
    final class Photos: PhotoFiles {
        struct State {
            var requested: [String] = []
            var imported: [(folder: String, keepsOriginals: Bool)] = []
            var exported: [String] = []
            var onPicture: @Sendable (String) async throws -> PixelPicture = { _ in MomentsModelTests.dot }
            var onThumbnail: @Sendable (String) async throws -> PixelPicture = { _ in MomentsModelTests.dot }
            var onImport: @Sendable () async throws -> Void = {}
            var onExport: @Sendable () async throws -> Void = {}
        }
        let state = Mutex(State())

        func picture(of photo: PhotoReport) async throws -> PixelPicture {
            let body = state.withLock { state in
                state.requested.append(photo.id)
                return state.onPicture
            }
            return try await body(photo.id)
        }

        func thumbnail(of photo: PhotoReport) async throws -> PixelPicture { MomentsModelTests.dot }

        /// `onPicture` gets its bytes as text.
        func picture(of photo: [UInt8]) async throws -> PixelPicture {
            try await state.withLock { $0.onPicture }(String(decoding: photo, as: UTF8.self))
        }

        /// `onThumbnail` gets its bytes as text.
        func thumbnail(of photo: [UInt8]) async throws -> PixelPicture {
            try await state.withLock { $0.onThumbnail }(String(decoding: photo, as: UTF8.self))
        }

        func save(
            _ moment: MomentReport, into folder: String, progress: @escaping ProgressHandler
        ) async throws -> String { "Saved \(moment.photos.count) photos." }

        func importFolder(
            _ folder: String, to vault: String, keepsOriginals: Bool, progress: @escaping ProgressHandler
        ) async throws -> PhotoImportOutcome {
            let body = state.withLock { state in
                state.imported.append((folder, keepsOriginals))
                return state.onImport
            }
            progress(0.5)
            try await body()
            return PhotoImportOutcome(summary: "Imported 2 photos as 1 moment.", skipped: ["a.jpg is truncated."])
        }

        func export(to folder: String, progress: @escaping ProgressHandler) async throws -> String {
            let body = state.withLock { state in
                state.exported.append(folder)
                return state.onExport
            }
            try await body()
            return "Wrote 1 moment."
        }

        func inVault(_ id: String?) -> any PhotoFiles { self }
    }

    nonisolated static let dot = PixelPicture(width: 1, height: 1, rgb: [7, 7, 7])

    /// The tasks that the model starts while it is set inherit it, so it is released when all of them have ended.
    private final class Marker: Sendable {}
    @TaskLocal private static var marker: Marker?

    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let files = Photos()
    private let model: MomentsModel

    private nonisolated static func moment(_ id: String, photos: Int = 0) -> MomentReport {
        MomentReport(
            id: id, revision: 1, title: "", date: 1_715_963_405, offset: 120, mood: "joy",
            place: MomentPlace(name: "Lisbon"),
            photos: (0..<photos).map { .init(id: "\(id)-\($0)", width: 4, height: 3) }, favourite: false, created: 0,
            modified: 0, removed: nil)
    }

    init() {
        context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        model = MomentsModel(context, vault, MomentVaultsModel(context, vault), files)
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.openVault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.closeVault) { _ in VaultStatus(vault: "v", isOpen: false) }
        control.on(\.listMoments) { _ in
            MomentList(moments: (0..<230).map { Self.moment("m\($0)") }, unreadable: 1)
        }
        control.on(\.readMoment) { _ in MomentContent(moment: Self.moment("m0", photos: 2), words: "Sun.") }
        control.on(\.readPhoto) { request in
            let size = PhotoSize(type: "image/jpeg", size: 1, key: Data(count: 32), blob: "b")
            return PhotoReport(
                id: try #require(request.parameter), vault: "v", width: 4, height: 3, taken: nil, original: size,
                medium: nil, thumbnail: Data([1]))
        }
    }

    @Test func aHundredMomentsAreShownAndMoreOnRequest() async {
        await model.load()
        #expect(model.moments.count == 100 && model.hasMore && model.unreadable == 1)
        await model.showMore()
        await model.showMore()
        #expect(model.moments.count == 230 && !model.hasMore)
        #expect(model.moments[0].heading == "2024-05-17")
        #expect(model.moments[0].facts == "2024-05-17 18:30 · Joy · Lisbon")
    }

    @Test func videosAndVoiceNotesAreNamedWithTheirLength() async {
        var moment = Self.moment("m0", photos: 3)
        moment.photos[1].kind = .video
        moment.photos[1].duration = 61.6
        moment.photos[2].kind = .voice
        control.on(\.readMoment) { [moment] _ in MomentContent(moment: moment, words: "") }
        await model.open("m0")
        #expect(model.photos.map(\.kind) == [nil, .video, .voice])
        #expect(model.photos.map(\.length) == [nil, "1:02", nil])
        #expect(
            model.shown?.moment.facts == "2024-05-17 18:30 · Joy · Lisbon · 1 photo · 1 video · 1 voice note")
    }

    @Test func theCompanionIsOpenedAfterThePasscode() async {
        let opened = Mutex<[String]>([])
        model.openPanel = { passcode in opened.withLock { $0.append(passcode) } }
        control.on(\.openVault) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return VaultStatus(vault: "v", isOpen: true, user: 1_000)
        }
        async let done: Void = model.openCompanion()
        await answer(context.prompt, "wrong")
        #expect(opened.withLock { $0 }.isEmpty && context.prompt.question != nil)
        await answer(context.prompt)
        await done
        #expect(opened.withLock { $0 } == [FakeControl.passcode])
    }

    @Test func eachMomentHasTheThumbnailOfItsFirstPhoto() async {
        control.on(\.listMoments) { _ in
            MomentList(moments: [Self.moment("m0", photos: 2), Self.moment("m1")], unreadable: 0)
        }
        await model.load()
        await eventually("it is there") { model.thumbnails == ["m0-0": Self.dot] }
        await vault.refresh()
        await vault.lock()
        #expect(model.thumbnails.isEmpty)
    }

    @Test func photosAreShownOneAfterAnotherAndOneThatFailsIsNamed() async {
        files.state.withLock {
            $0.onPicture = { id in
                if id == "m0-1" { throw ControlError(.notReadable, "It is damaged.") }
                return Self.dot
            }
        }
        await model.open("m0")
        #expect(model.shown?.words == "Sun." && model.photos.count == 2)
        await eventually("both are there") { model.photos.allSatisfy { $0.picture != nil || !$0.problem.isEmpty } }
        #expect(model.photos[0].picture == Self.dot)
        #expect(model.photos[1].problem == "The photo can't be shown. It is damaged.")
    }

    @Test func nothingOfAMomentRemainsAfterTheVaultIsLocked() async {
        await vault.refresh()
        await model.load()
        await model.open("m0")
        await vault.lock()
        #expect(model.moments.isEmpty && model.shown == nil && model.photos.isEmpty)
    }

    @Test func aPhotoOfAMomentThatWasClosedIsNotShownInTheNext() async {
        let (arrival, arrive) = AsyncStream.makeStream(of: Void.self)
        let late = PixelPicture(width: 1, height: 1, rgb: [9, 9, 9])
        files.state.withLock {
            $0.onPicture = { _ in
                // In a task of its own, which is not cancelled when the moment is closed.
                await Task { for await _ in arrival { break } }.value
                return late
            }
        }
        weak var reading: Marker?
        do {
            let marker = Marker()
            reading = marker
            await Self.$marker.withValue(marker) { await model.open("m0") }
        }
        await eventually("its first photo is requested") { files.state.withLock { $0.requested == ["m0-0"] } }
        files.state.withLock { $0.onPicture = { _ in Self.dot } }
        // The same moment, with the same photos.
        await model.open("m0")
        await eventually("both are there") { model.photos.allSatisfy { $0.picture == Self.dot } }
        #expect(reading != nil, "the first photo has not arrived")
        arrive.finish()
        await eventually("the first photo has arrived") { reading == nil }
        #expect(model.photos.allSatisfy { $0.picture == Self.dot })
    }

    @Test func whatArrivesAfterALockIsDropped() async {
        await vault.refresh()
        for operation in ["list", "moment"] {
            let (arrival, arrive) = AsyncStream.makeStream(of: Void.self)
            control.on(\.listMoments) { _ in
                for await _ in arrival { break }
                return MomentList(moments: [Self.moment("m0")], unreadable: 0)
            }
            control.on(\.readMoment) { _ in
                for await _ in arrival { break }
                return MomentContent(moment: Self.moment("m0", photos: 2), words: "Sun.")
            }
            let reading = Task { operation == "list" ? await model.load() : await model.open("m0") }
            await eventually("it is asked for") {
                !control.requests(operation == "list" ? .listMoments : .readMoment).isEmpty
            }
            await vault.lock()
            arrive.finish()
            await reading.value
            #expect(model.moments.isEmpty && model.shown == nil && model.photos.isEmpty)
            await vault.refresh()
        }
    }

    @Test func aMomentThatWasLeftWhileItWasReadStaysClosed() async {
        let (arrival, arrive) = AsyncStream.makeStream(of: Void.self)
        control.on(\.readMoment) { _ in
            for await _ in arrival { break }
            return MomentContent(moment: Self.moment("m0"), words: "Sun.")
        }
        let reading = Task { await model.open("m0") }
        await eventually("it is asked for") { !control.requests(.readMoment).isEmpty }
        model.close()
        arrive.finish()
        await reading.value
        #expect(model.shown == nil)
    }

    @Test func twentyPhotosAreDecodedAndMoreOnRequest() async {
        control.on(\.readMoment) { _ in MomentContent(moment: Self.moment("m0", photos: 30), words: "") }
        await model.open("m0")
        #expect(model.photos.count == 20 && model.hasMorePhotos)
        model.showMorePhotos()
        #expect(model.photos.count == 30 && !model.hasMorePhotos)
        await eventually("all are there") { model.photos.allSatisfy { $0.picture != nil } }
    }

    @Test func aMomentBecomesAFavouriteAndMovesToTheTrash() async {
        await vault.refresh()
        await model.load()
        await model.open("m0")
        control.on(\.changeMoment) { request in
            var moment = Self.moment("m0")
            let body = try request.body(as: ChangeMomentRequest.self)
            (moment.favourite, moment.removed) = (body.favourite ?? false, body.removed == true ? 1 : nil)
            return moment
        }
        await model.setFavourite(true)
        #expect(model.shown?.moment.favourite == true && model.moments[0].favourite)
        await model.moveToTrash()
        #expect(model.shown == nil)
        #expect(context.announcement == "The moment is in the trash.")
    }

    @Test func aCancelledExportSaysThatItsFilesAreNotSealed() async {
        files.state.withLock { $0.onExport = { try await Task.sleep(for: .seconds(600)) } }
        async let export: Void = model.export(to: "/home/a/album")
        await answer(context.prompt)
        await eventually("it runs") { model.work != nil }
        model.cancel()
        await export
        #expect(
            model.outcome == ["Not everything was written. The files in /home/a/album are not sealed: remove them."])
    }

    @Test func aFolderThatCantBeUsedIsNamedAlone() async {
        files.state.withLock { $0.onExport = { throw PhotoFilesRefusal(sentence: "It is not empty.") } }
        async let export: Void = model.export(to: "/home/a/album")
        await answer(context.prompt)
        await export
        #expect(model.outcome == ["It is not empty."])
    }

    @Test func anImportReportsWhatItSkipped() async {
        await model.importFolder("/home/a/old", keepsOriginals: true)
        #expect(files.state.withLock { $0.imported.map(\.folder) } == ["/home/a/old"])
        #expect(files.state.withLock { $0.imported.allSatisfy(\.keepsOriginals) })
        #expect(model.outcome == ["Imported 2 photos as 1 moment.", "a.jpg is truncated."] && model.work == nil)
    }

    @Test func anImportIsCancelledAndAnotherOneRefusedMeanwhile() async {
        files.state.withLock { $0.onImport = { try await Task.sleep(for: .seconds(600)) } }
        async let first: Void = model.importFolder("/home/a/old", keepsOriginals: false)
        await eventually("it runs") { model.work?.part == 0.5 }
        await model.importFolder("/home/a/other", keepsOriginals: false)
        #expect(context.announcement == "Importing photos is not finished. Wait until it ends.")
        model.cancel()
        await first
        #expect(model.work == nil && files.state.withLock { $0.imported.count } == 1)
        #expect(
            model.outcome == ["The import was stopped. Finished days stay; import the folder again to continue."])
    }

    @Test func anExportAsksForThePasscodeAlthoughTheVaultIsOpen() async throws {
        await vault.refresh()
        async let export: Void = model.export(to: "/home/a/album")
        await answer(context.prompt)
        await export
        #expect(files.state.withLock { $0.exported } == ["/home/a/album"])
        #expect(control.requests(.openVault).count == 1)
        #expect(model.outcome == ["Wrote 1 moment."])
    }

    @Test func closingTheWindowStopsAnExportAndReportsWhatRemains() async {
        struct NoFiles: FileTransfer {
            func changeInPlace(
                _ change: InPlaceChange, _ paths: [String], keepsOriginals: Bool,
                earlierPasscode: @escaping @Sendable (_ name: String) async throws -> String,
                progress: @escaping ProgressHandler
            ) async throws -> InPlaceOutcome { InPlaceOutcome(paths: []) }

            func add(
                _ path: String, to vault: String, removesOriginal: Bool, progress: @escaping ProgressHandler
            ) async throws {}
            func write(
                _ content: FileContent, into folder: String, progress: @escaping ProgressHandler
            ) async throws -> String { folder }
        }
        files.state.withLock { $0.onExport = { try await Task.sleep(for: .seconds(3_600)) } }
        let clock = TestClock()
        let (filesModel, backup) = (FilesModel(context, vault, NoFiles()), BackupModel(context))
        let transfers = RunningTransfers(filesModel, model, backup, time: clock.time)
        #expect(!transfers.isRunning)
        #expect(await transfers.stop().isEmpty)
        async let done: Void = model.export(to: "/album")
        await answer(context.prompt)
        await eventually("it runs") { files.state.withLock { !$0.exported.isEmpty } }
        #expect(transfers.isRunning)
        async let stopped = transfers.stop()
        await done
        await eventually("it has ended") {
            clock.advance(by: .milliseconds(50))
            return !transfers.isRunning
        }
        let remains = await stopped
        #expect(remains == ["Not everything was written. The files in /album are not sealed: remove them."])
    }
}
