import GateProtocol
import Testing

@testable import LaunchGate

@Suite struct AppTableTests {
    private let file = FileIdentity(device: 1, inode: 10)
    private let other = FileIdentity(device: 1, inode: 11)

    private func path(_ text: String) -> GuardedApp.Path { .init(kind: .executable, bytes: Array(text.utf8)) }

    private func guardedKey(_ owner: AppTable.Owner) -> Int? {
        if case .guarded(let app) = owner { app.key } else { nil }
    }

    @Test func `a file of two apps is guarded as long as one of them is`() {
        var table = AppTable()
        let first = table.app(token: 1, paths: [path("/a")])
        let second = table.app(token: 2, paths: [path("/b")])
        table.setFiles([file: [1]], directories: [:], of: first)
        table.setFiles([file: [1]], directories: [:], of: second)
        first.isGuarded = true
        #expect(guardedKey(table.owner(of: file)) == first.key)
        #expect(table.isNeeded(file, besides: second, isDirectory: false))
        first.isGuarded = false
        second.isGuarded = true
        #expect(guardedKey(table.owner(of: file)) == second.key)
        table.remove(second)
        guard case .unguarded = table.owner(of: file) else {
            Issue.record("it does not belong to the first app alone")
            return
        }
        table.remove(first)
        guard case .nobody = table.owner(of: file) else {
            Issue.record("it still has an owner")
            return
        }
    }

    @Test func `a replaced file stays guarded with its app, and a new owner of its inode number takes precedence`() {
        var table = AppTable()
        let app = table.app(token: 1, paths: [path("/a")])
        app.isGuarded = true
        table.setFiles([file: [1]], directories: [:], of: app)
        table.setFiles([other: [1]], directories: [:], of: app) { _, _ in true }
        #expect(guardedKey(table.owner(of: file)) == app.key)
        let newcomer = table.app(token: 2, paths: [path("/b")])
        newcomer.isGuarded = true
        table.setFiles([file: [2]], directories: [:], of: newcomer)
        #expect(guardedKey(table.owner(of: file)) == newcomer.key)
    }

    @Test func `an app is found again by its paths after a new connection`() {
        var table = AppTable()
        let app = table.app(token: 1, paths: [])
        app.paths = [path("/a"), path("/b")]
        let gone = table.app(token: 2, paths: [])
        gone.paths = [path("/c")]
        table.forgetTokens()
        #expect(table[1] == nil)
        #expect(table.app(token: 2, paths: [path("/b"), path("/d")]) === app)
        #expect(table.unclaimedApps().map(\.key) == [gone.key])
        #expect(table.app(token: 3, paths: [path("/x")]) !== gone)
    }
}
