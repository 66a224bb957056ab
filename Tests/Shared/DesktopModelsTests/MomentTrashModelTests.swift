import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct MomentTrashModelTests {
    private nonisolated static let day = 86_400.0

    /// A daemon's moments in the trash.
    private final class Trash: Sendable {
        private let moments: Mutex<[MomentReport]>

        init(_ moments: [MomentReport]) { self.moments = Mutex(moments) }

        var list: [MomentReport] { moments.withLock { $0 } }

        func add(_ moment: MomentReport) { moments.withLock { $0.append(moment) } }

        @discardableResult
        func remove(_ id: String?) throws -> MomentReport {
            try moments.withLock { moments in
                guard let index = moments.firstIndex(where: { $0.id == id }) else {
                    throw ControlError(.noSuchItem, "There is no such moment.")
                }
                return moments.remove(at: index)
            }
        }
    }

    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let trash: Trash
    private let model: MomentTrashModel

    /// - Parameter days: how long ago it was moved to the trash.
    private nonisolated static func moment(
        _ id: String, _ title: String = "", photos: Int = 0, removed days: Double = 1
    ) -> MomentReport {
        MomentReport(
            id: id, revision: 1, title: title, date: 1_715_963_405, offset: 120, mood: "", place: nil,
            photos: (0..<photos).map { .init(id: "\(id)-\($0)", width: 4, height: 3) }, favourite: false, created: 0,
            modified: 0, removed: TestClock.start - days * Self.day)
    }

    init() {
        context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        model = MomentTrashModel(context, vault, MomentVaultsModel(context, vault), keptFor: 30 * Self.day)
        let trash = Trash([
            Self.moment("old", removed: 29.5), Self.moment("lake", "At the lake", photos: 3),
            Self.moment("late", "Late", photos: 1, removed: 31),
        ])
        self.trash = trash
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.closeVault) { _ in VaultStatus(vault: "v", isOpen: false) }
        control.on(\.listMoments) { request in
            #expect(request.query == ["trash": "true"])
            return MomentList(moments: trash.list, unreadable: 0)
        }
        control.on(\.changeMoment) { request in
            #expect(try request.body(as: ChangeMomentRequest.self).removed == false)
            var moment = try trash.remove(request.parameter)
            moment.removed = nil
            return moment
        }
        control.on(\.removeMoment) { try trash.remove($0.parameter) }
    }

    private var erased: [String?] { control.requests(.removeMoment).map(\.parameter) }

    @Test func theLastRemovedIsFirstAndEachHasTheDaysThatAreLeft() async {
        await model.open()
        #expect(model.isShown && model.isEmpty == false && !model.hasMore)
        #expect(model.moments.map(\.heading) == ["At the lake", "2024-05-17", "Late"])
        #expect(
            model.moments.map(\.detail) == [
                "2024-05-17 · 3 photos · 29 days left", "1 day left", "2024-05-17 · 1 photo · erased today",
            ])
    }

    @Test func aMomentIsRestored() async {
        await model.open()
        await model.restore("lake")
        #expect(model.moments.map(\.id) == ["old", "late"])
        #expect(context.announcement == "At the lake is restored.")
        #expect(erased.isEmpty)
    }

    @Test func aQuestionStatesWhatIsErasedAndOnlyThatIs() async throws {
        await model.open()
        let lake = try #require(model.erasure(of: "lake"))
        #expect(lake.title == "Erase At the lake?")
        #expect(lake.explanation == "Erased on all devices: 1 moment, 3 photos. This can't be undone.")
        #expect(model.erasure(of: "old")?.explanation == "Erased on all devices: 1 moment. This can't be undone.")
        #expect(model.erasure(of: "unknown") == nil)
        #expect(erased.isEmpty)
        await model.erase(lake)
        #expect(erased == ["lake"] && model.moments.map(\.id) == ["old", "late"])
    }

    @Test func emptyingTheTrashErasesWhatTheQuestionCounted() async {
        await model.open()
        let all = model.erasureOfAll
        #expect(all.explanation == "Erased on all devices: 3 moments, 4 photos. This can't be undone.")
        trash.add(Self.moment("new", "New", removed: 0))
        await model.erase(all)
        #expect(erased == ["lake", "old", "late"])
        #expect(model.moments.map(\.id) == ["new"] && !model.isErasing)
    }

    @Test func whatAnotherDeviceRestoredMeanwhileIsNotErased() async throws {
        await model.open()
        let all = model.erasureOfAll
        try trash.remove("lake")
        await model.erase(all)
        #expect(erased == ["old", "late"])
        #expect(model.isEmpty == true && context.announcement.isEmpty)
    }

    @Test func aFailureIsReportedAndTheRestStays() async {
        await model.open()
        control.on(\.removeMoment) { _ in throw ControlError(.failed, "The disk is full.") }
        await model.erase(model.erasureOfAll)
        #expect(erased == ["lake"] && context.announcement == "The disk is full.")
        #expect(model.moments.count == 3 && !model.isErasing)
    }

    @Test func nothingOfItRemainsAfterTheVaultIsLocked() async {
        await vault.refresh()
        await model.open()
        await vault.lock()
        #expect(!model.isShown && model.moments.isEmpty && model.isEmpty == nil)
        #expect(model.erasureOfAll.explanation == "Erased on all devices: 0 moments. This can't be undone.")
    }

    @Test func aHundredAreShownAndMoreOnRequest() async {
        for number in 0..<150 { trash.add(Self.moment("m\(number)")) }
        await model.open()
        #expect(model.moments.count == 100 && model.hasMore)
        model.showMore()
        #expect(model.moments.count == 153 && !model.hasMore)
    }
}
