import ControlAPI
import DesktopModels
import TestSupport
import Testing

@MainActor
struct VaultModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let notes: NotesModel

    init() {
        context = makeContext(control)
        vault = VaultModel(context, user: 1_000)
        notes = NotesModel(context, vault)
    }

    private func show(_ status: VaultStatus) async {
        control.on(\.vault) { _ in status }
        await vault.refresh()
    }

    @Test func itIsOpenForItsOwnUserAlone() async {
        await show(VaultStatus(vault: "v", isOpen: true, user: 1_001))
        #expect(!vault.isOpen)
        await show(VaultStatus(vault: "v", isOpen: true, user: 1_000))
        #expect(vault.isOpen)
        // The other user opened it, which ends the use of this one.
        await show(VaultStatus(vault: "v", isOpen: true, user: 1_001))
        #expect(!vault.isOpen)
    }

    @Test(
        arguments: [
            ControlError(.busy, "Try again."), DaemonUnreachable(isStopped: false, sentence: "No answer."),
            CancellationError(),
        ] as [any Error])
    func anErrorIsNoLock(error: any Error) async {
        await show(VaultStatus(vault: "v", isOpen: true, user: 1_000))
        await notes.startNew()
        notes.edit(title: "Bank", body: "words")
        control.on(\.vault) { _ in throw error }
        await vault.refresh()
        #expect(vault.isOpen && notes.body == "words")
    }

    @Test func aLockIsNoticedWithinASecondWhateverElseWaits() async {
        let clock = TestClock()
        let vault = VaultModel(makeContext(control, clock), user: 1_000)
        await show(VaultStatus(vault: "v", isOpen: true, user: 1_000))
        await vault.refresh()
        async let watched: Void = vault.watch()
        await eventually("it waits") { clock.sleepers == 1 }
        clock.advance(by: .seconds(1))
        await eventually("it has read the state and waits again") { clock.sleepers == 1 && vault.isOpen }
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
        clock.advance(by: .seconds(1))
        await watched
        #expect(!vault.isOpen && clock.now == .seconds(2))
    }

    @Test func aStoppedDaemonHasLockedIt() async {
        await show(VaultStatus(vault: "v", isOpen: true, user: 1_000))
        await notes.startNew()
        notes.edit(title: "Bank", body: "words")
        control.on(\.vault) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Nothing answers.") }
        await vault.refresh()
        #expect(!vault.isOpen && notes.body.isEmpty)
    }
}
