import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct IntrudersModelTests {
    private let control = FakeControl()
    private let photos = MomentsModelTests.Photos()
    private let vault: VaultModel
    private let model: IntrudersModel

    init() async {
        let reports = ["p", "q"].map { id in
            IntruderReport(id: id, time: TestClock.start, app: "f", user: nil, failures: 3, size: 2)
        }
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.listIntruders) { _ in IntruderList(intruders: reports) }
        control.on(\.listApps) { _ in AppList(apps: [app("f", "Firefox")]) }
        control.on(\.readIntruder) { _ in IntruderPhoto(intruder: reports[0], photo: .init(Array("photo".utf8))) }
        let context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        model = IntrudersModel(context, vault, photos)
        await vault.refresh()
        await model.load()
    }

    private func lockVault() async {
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
        await vault.refresh()
    }

    @Test func aPhotoIsInMemoryOnlyWhileItIsShown() async {
        #expect(model.items.map(\.detail) == Array(repeating: "After 3 wrong passcodes for Firefox", count: 2))
        await model.open("p")
        #expect(model.picture == .decoded(MomentsModelTests.dot) && model.shown?.id == "p")
        await lockVault()
        #expect(model.picture == nil && model.shown == nil && model.items.isEmpty)
    }

    @Test func eachPhotoHasAThumbnailAndADamagedOneHidesNoOther() async {
        control.on(\.readIntruder) { request in
            let id = request.parameter ?? ""
            return IntruderPhoto(
                intruder: IntruderReport(id: id, time: TestClock.start, app: "f", user: nil, failures: 3, size: 2),
                photo: .init(Array(id.utf8)))
        }
        photos.state.withLock {
            $0.onThumbnail = { bytes in
                if bytes == "p" { throw ControlError(.notReadable, "It is damaged.") }
                return MomentsModelTests.dot
            }
        }
        await lockVault()
        #expect(model.thumbnails.isEmpty)
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        await vault.refresh()
        let before = control.requests(.readIntruder).count
        await model.load()
        await eventually("the second has one") { model.thumbnails["q"] == MomentsModelTests.dot }
        #expect(model.thumbnails["p"] == nil)
        // What was opened once is not opened again while the vault is open.
        await model.load()
        await model.open("q")
        #expect(control.requests(.readIntruder).count == before + 3)
    }

    @Test func aPhotoIsDecodedApartAndOneThatCannotBeIsExplained() async {
        let decoded = Mutex<[String]>([])
        photos.state.withLock {
            $0.onPicture = { bytes in
                decoded.withLock { $0.append(bytes) }
                throw ControlError(.notReadable, "It has too many pixels.")
            }
        }
        await model.open("p")
        #expect(decoded.withLock { $0 } == ["photo"])
        #expect(model.picture == .failed("The photo can't be shown. It has too many pixels."))
        #expect(model.shown?.id == "p", "it can be removed")
    }

    @Test func aVaultThatIsLockedWhileAPhotoIsDecodedShowsNone() async {
        let (decoding, begin) = AsyncStream<Void>.makeStream()
        let (locked, proceed) = AsyncStream<Void>.makeStream()
        photos.state.withLock {
            $0.onPicture = { _ in
                begin.finish()
                for await _ in locked {}
                return MomentsModelTests.dot
            }
        }
        async let opened: Void = model.open("p")
        for await _ in decoding {}
        await lockVault()
        proceed.finish()
        await opened
        #expect(model.picture == nil && model.shown == nil)
    }
}
