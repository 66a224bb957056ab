import ControlAPI
import DesktopModels
import TestSupport
import Testing

@MainActor
struct MomentStatisticsModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let model: MomentStatisticsModel

    private nonisolated static func moment(_ day: String, _ mood: String = "", photos: Int = 0) throws -> MomentReport {
        let date = Double(try #require(LocalDay(day)).daysSince1970) * 86_400
        return MomentReport(
            id: day, revision: 1, title: "", date: date, offset: 0, mood: mood, place: MomentPlace(name: "Lisbon"),
            photos: (0..<photos).map { .init(id: "\(day)-\($0)", width: 4, height: 3) }, favourite: mood == "joy",
            created: 0, modified: 0, removed: nil)
    }

    init() {
        context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        model = MomentStatisticsModel(vault, MomentVaultsModel(context, vault))
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.closeVault) { _ in VaultStatus(vault: "v", isOpen: false) }
        control.on(\.listMoments) { _ in
            MomentList(
                moments: [
                    try Self.moment("2026-02-03", "joy", photos: 2), try Self.moment("2026-02-01", "joy"),
                    try Self.moment("2025-12-24", "cosy", photos: 1), try Self.moment("2023-01-31"),
                ], unreadable: 0)
        }
    }

    @Test func momentsPhotosPlacesAndDaysAreCounted() async {
        await model.open()
        #expect(model.isShown && !model.isEmpty)
        #expect(
            model.facts.map(\.name) == [
                "Moments", "Photos", "Favourites", "Places", "Days with a moment", "First moment",
            ])
        #expect(model.facts.map(\.value) == ["4", "3", "2", "1", "4", "2023-01-31"])
    }

    @Test func barsCompareYearsMonthsAndMoods() async {
        await model.open()
        #expect(model.bars.map(\.name) == ["2026", "2025", "2024", "2023"])
        #expect(model.bars.map(\.detail) == ["2 moments, 2 photos", "1 moment, 1 photo", "0 moments", "1 moment"])
        #expect(model.bars.map(\.fraction) == [1, 0.5, 0, 0.5])
        model.chart = .month
        #expect(model.bars.count == 24)
        #expect(model.bars.prefix(3).map(\.name) == ["February 2026", "January 2026", "December 2025"])
        #expect(model.bars.prefix(3).map(\.detail) == ["2 moments, 2 photos", "0 moments", "1 moment, 1 photo"])
        model.chart = .mood
        #expect(model.bars.map(\.name) == ["Joy", "cosy"])
        #expect(model.bars.map(\.detail) == ["2 moments", "1 moment"])
    }

    @Test func monthsBeginWithTheFirstMoment() async throws {
        control.on(\.listMoments) { _ in
            MomentList(moments: [try Self.moment("2026-01-05"), try Self.moment("2025-11-01")], unreadable: 0)
        }
        model.chart = .month
        await model.open()
        #expect(model.bars.map(\.name) == ["January 2026", "December 2025", "November 2025"])
    }

    @Test func withoutAMomentThereIsNothingToCount() async {
        control.on(\.listMoments) { _ in MomentList(moments: [], unreadable: 0) }
        await model.open()
        #expect(model.isEmpty && model.facts.isEmpty && model.bars.isEmpty)
    }

    @Test func nothingOfThemRemainsAfterTheVaultIsLocked() async {
        await vault.refresh()
        await model.open()
        await vault.lock()
        #expect(!model.isShown && model.facts.isEmpty && model.bars.isEmpty)
        model.chart = .mood
        #expect(model.bars.isEmpty)
    }
}
