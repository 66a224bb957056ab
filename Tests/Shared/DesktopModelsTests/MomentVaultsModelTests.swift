import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct MomentVaultsModelTests {
    /// Photos of a test: what was called, and of which vault.
    private struct Photos: PhotoFiles {
        final class Calls: Sendable { let list = Mutex<[String]>([]) }

        let calls: Calls
        var vault: String?

        private func record(_ call: String) { calls.list.withLock { $0.append("\(call) in \(vault ?? "own")") } }

        func picture(of photo: PhotoReport) async throws -> PixelPicture {
            record("picture")
            return MomentsModelTests.dot
        }
        func thumbnail(of photo: PhotoReport) async throws -> PixelPicture { MomentsModelTests.dot }
        func picture(of photo: [UInt8]) async throws -> PixelPicture { MomentsModelTests.dot }
        func thumbnail(of photo: [UInt8]) async throws -> PixelPicture { MomentsModelTests.dot }

        func save(
            _ moment: MomentReport, into folder: String, progress: @escaping ProgressHandler
        ) async throws -> String {
            record("save")
            return "Saved 1 photo."
        }

        func importFolder(
            _ folder: String, to vault: String, keepsOriginals: Bool, progress: @escaping ProgressHandler
        ) async throws -> PhotoImportOutcome {
            record("import to \(vault)")
            return PhotoImportOutcome(summary: "Imported 1 photo as 1 moment.", skipped: [])
        }

        func export(to folder: String, progress: @escaping ProgressHandler) async throws -> String {
            record("export")
            return "Wrote 1 moment."
        }

        func inVault(_ id: String?) -> any PhotoFiles { Photos(calls: calls, vault: id) }
    }

    private nonisolated static let us = "aaaa1111" + String(repeating: "0", count: 24)
    private nonisolated static let club = "bbbb2222" + String(repeating: "0", count: 24)

    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let calls = Photos.Calls()
    private let vaults: MomentVaultsModel
    private let model: MomentsModel
    private let trash: MomentTrashModel
    private let statistics: MomentStatisticsModel

    private nonisolated static func report(
        _ id: String, _ name: String, _ state: SharedVaultReport.State = .member, problem: String? = nil
    ) -> SharedVaultReport {
        SharedVaultReport(
            id: id, name: name, hub: "https://hub.example", state: state, vault: "sealed \(name)",
            isConnected: problem == nil, problem: problem)
    }

    private nonisolated static func moment(_ vault: String?) -> MomentReport {
        MomentReport(
            id: "m", revision: 1, title: "In \(vault ?? "own")", date: 0, offset: 0, mood: "", place: nil,
            photos: [.init(id: "p", width: 4, height: 3)], favourite: false, created: 0, modified: 0, removed: nil)
    }

    init() {
        context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        vaults = MomentVaultsModel(context, vault)
        model = MomentsModel(context, vault, vaults, Photos(calls: calls))
        trash = MomentTrashModel(context, vault, vaults, keptFor: 86_400)
        statistics = MomentStatisticsModel(vault, vaults)
        control.on(\.vault) { _ in VaultStatus(vault: "sealed own", isOpen: true, user: 1_000) }
        control.on(\.openVault) { _ in VaultStatus(vault: "sealed own", isOpen: true, user: 1_000) }
        control.on(\.closeVault) { _ in VaultStatus(vault: "sealed own", isOpen: false) }
        control.on(\.listMoments) { MomentList(moments: [Self.moment($0.vault)], unreadable: 0) }
        control.on(\.readMoment) { MomentContent(moment: Self.moment($0.vault), words: "") }
        control.on(\.changeMoment) { Self.moment($0.vault) }
        control.on(\.removeMoment) { Self.moment($0.vault) }
        control.on(\.readPhoto) { _ in
            let size = PhotoSize(type: "image/jpeg", size: 1, key: Data(count: 32), blob: "b")
            return PhotoReport(
                id: "p", vault: "v", width: 4, height: 3, taken: nil, original: size, medium: nil,
                thumbnail: Data([1]))
        }
        list(Self.report(Self.us, "us"))
    }

    private func list(_ reports: SharedVaultReport...) {
        control.on(\.listVaults) { [reports] _ in SharedVaultList(vaults: reports) }
    }

    @Test func theOwnVaultIsTheOnlyChoiceUntilAMemberHasConfirmed() async {
        list(Self.report(Self.us, "", .waiting))
        await model.loadWithVaults()
        #expect(vaults.choices.map(\.title) == ["Mine"] && vaults.chosen == nil)
        #expect(model.moments.map(\.title) == ["In own"])
    }

    @Test func vaultsOfOneNameAndWithoutANameAreDistinguished() async {
        list(
            Self.report(Self.us, "us"), Self.report(Self.club, "us", .removed),
            Self.report("cccc3333" + Self.us.dropFirst(8), ""), Self.report("dddd4444", "club"))
        await model.loadWithVaults()
        #expect(
            vaults.choices.map(\.title) == ["Mine", "us (aaaa1111)", "us (bbbb2222)", "Vault cccc3333", "club"])
    }

    @Test func everythingConcernsTheChosenVault() async throws {
        await model.loadWithVaults()
        await model.choose(vault: Self.us)
        #expect(vaults.chosen == Self.us && model.moments.map(\.title) == ["In " + Self.us])
        await model.open("m")
        await eventually("its photo is there") { model.photos.allSatisfy { $0.picture != nil } }
        await model.setFavourite(true)
        await model.savePhotos(into: "/home/a/saved")
        await model.moveToTrash()
        await model.importFolder("/home/a/old", keepsOriginals: false)
        async let export: Void = model.export(to: "/home/a/album")
        await answer(context.prompt)
        await export
        #expect(
            calls.list.withLock { $0 }
                == ["picture", "save", "import to sealed us", "export"].map { $0 + " in " + Self.us })
        await trash.open()
        await trash.restore("m")
        await trash.erase(try #require(trash.erasure(of: "m")))
        await statistics.open()
        for route in [ControlRoute.readMoment, .changeMoment, .removeMoment] {
            let requests = control.requests(route)
            #expect(!requests.isEmpty && requests.allSatisfy { $0.vault == Self.us }, "\(route)")
        }
        // The first one was made before the choice.
        #expect(control.requests(.listMoments).dropFirst().allSatisfy { $0.vault == Self.us })
        // Its passcode opens the shared vaults.
        #expect(control.requests(.openVault).map(\.vault) == [nil])
    }

    @Test func nothingOfTheVaultBeforeRemainsAfterAChoice() async {
        await model.loadWithVaults()
        await model.open("m")
        await trash.open()
        await statistics.open()
        control.on(\.listMoments) { _ in throw ControlError(.failed, "The disk is full.") }
        await model.choose(vault: Self.us)
        #expect(model.moments.isEmpty && model.shown == nil && model.photos.isEmpty && model.thumbnails.isEmpty)
        #expect(!trash.isShown && trash.moments.isEmpty && !statistics.isShown && statistics.facts.isEmpty)
    }

    @Test func whatArrivesAfterAnotherChoiceIsDropped() async {
        await model.loadWithVaults()
        let hold = FakeControl.Hold()
        control.on(\.listMoments) { request in
            if request.vault != nil { try await hold.wait() }
            return MomentList(moments: [Self.moment(request.vault)], unreadable: 0)
        }
        let choosing = Task { await model.choose(vault: Self.us) }
        await eventually("the list is asked for") { control.requests(.listMoments).contains { $0.vault != nil } }
        await model.choose(vault: nil)
        #expect(model.moments.map(\.title) == ["In own"])
        hold.end()
        await choosing.value
        #expect(model.moments.map(\.title) == ["In own"])
    }

    @Test func aVaultOfWhichThisComputerWasRemovedIsReadOnly() async {
        let reason = "Another member removed this computer from this vault."
        list(Self.report(Self.us, "us", .removed, problem: reason), Self.report(Self.club, "club"))
        await model.loadWithVaults()
        #expect(!vaults.isReadOnly && vaults.problem.isEmpty && trash.isChangeable)
        await model.choose(vault: Self.us)
        #expect(vaults.isReadOnly && vaults.problem == reason && !trash.isChangeable)
        #expect(model.moments.map(\.title) == ["In " + Self.us])
        await model.choose(vault: Self.club)
        #expect(!vaults.isReadOnly && vaults.problem.isEmpty && trash.isChangeable)
    }

    @Test func aVaultThatIsNotConnectedShowsWhy() async {
        await model.loadWithVaults()
        await model.choose(vault: Self.us)
        list(Self.report(Self.us, "us", problem: "The hub can't be reached."))
        await model.loadWithVaults()
        #expect(vaults.problem == "The hub can't be reached." && !vaults.isReadOnly)
    }

    @Test func theOwnVaultIsShownAfterTheChosenOneWasLeft() async {
        await model.loadWithVaults()
        await model.choose(vault: Self.us)
        list()
        await model.loadWithVaults()
        #expect(vaults.chosen == nil && vaults.choices.map(\.title) == ["Mine"])
        #expect(model.moments.map(\.title) == ["In own"])
    }

    @Test func aLockRemovesTheNamesAndTheChoice() async {
        await vault.refresh()
        await model.loadWithVaults()
        await model.choose(vault: Self.us)
        await vault.lock()
        #expect(vaults.choices.map(\.title) == ["Mine"] && vaults.chosen == nil)
        #expect(model.moments.isEmpty && model.isEmpty)
    }
}
