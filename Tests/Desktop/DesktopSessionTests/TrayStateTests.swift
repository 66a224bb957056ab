import ControlAPI
import DBus
import Testing

@testable import DesktopSession

extension SessionState {
    static func sample(
        _ protection: Protection = .locked, unlockedApps: Int = 0, vaultIsOpen: Bool = false,
        monitoringIsOn: Bool = true, degraded: [String] = [], limitSeconds: Int = 600, isArmed: Bool = false,
        locksOnCapture: Bool = false
    ) -> SessionState {
        SessionState(
            protection: protection, unlockedApps: unlockedApps, vaultIsOpen: vaultIsOpen,
            monitoringIsOn: monitoringIsOn, degraded: degraded,
            inactivity: .init(limitSeconds: limitSeconds, isArmed: isArmed), clipboardSeconds: 30,
            locksOnCapture: locksOnCapture)
    }
}

struct TrayStateTests {
    private let all = TrayState.Means(canOpen: true, canUnlock: true, canStop: true)

    @Test func theIconShowsLockedUnlockedOrDegraded() {
        #expect(TrayState(.sample(), means: all).protection.icon == "applocker-locked-symbolic")
        #expect(TrayState(.sample(.unlocked), means: all).protection.icon == "applocker-unlocked-symbolic")
        #expect(TrayState(.sample(.degraded), means: all).protection.icon == "applocker-degraded-symbolic")
        let stopped = TrayState(nil, means: all)
        #expect(stopped.protection == .degraded && stopped.title == "AppLocker is not running")
    }

    @Test func theDetailListsWhatIsOpenAndWhatIsDegraded() {
        #expect(TrayState(.sample(.unlocked, unlockedApps: 1), means: all).detail == "1 app is unlocked.")
        let open = TrayState(.sample(.unlocked, unlockedApps: 3, vaultIsOpen: true), means: all)
        #expect(open.detail == "3 apps are unlocked. The vault is open.")
        let degraded = TrayState(
            .sample(.degraded, unlockedApps: 2, degraded: ["The gate is not running.", "No camera."]), means: all)
        #expect(degraded.detail == "The gate is not running. No camera. 2 apps are unlocked.")
        let off = TrayState(.sample(.unlocked, monitoringIsOn: false), means: all)
        #expect(off.title == "All apps are unlocked")
        #expect(off.detail == "Monitoring is off: every app starts without a prompt.")
    }

    @Test func theMenuEnablesThePossibleCommands() {
        func enabled(_ state: TrayState) -> [TrayState.Command] {
            state.entries.compactMap { entry in
                if entry.isEnabled, case .command(let command) = entry.kind { command } else { nil }
            }
        }
        #expect(enabled(TrayState(.sample(), means: all)) == [.open, .lockAll, .unlock, .stop, .closeIcon])
        #expect(enabled(TrayState(.sample(), means: .init())) == [.lockAll, .closeIcon])
        #expect(enabled(TrayState(nil, means: all)) == [.open, .closeIcon], "no change without a running daemon")
        let close = TrayState(.sample(), means: all).entries.last
        #expect(close?.label == "Close this icon (protection continues)")
    }
}

struct TrayMenuTests {
    private let menu = TrayMenu(
        entries: [
            .init(kind: .text, label: "a_b", isEnabled: false), .init(kind: .separator),
            .init(kind: .command(.lockAll), label: "Lock all"),
            .init(kind: .command(.unlock), label: "Unlock…", isEnabled: false),
        ], revision: 3)

    @Test func theLayoutContainsEveryEntry() throws {
        let layout = try #require(menu.layout(of: 0, depth: -1, names: []))
        #expect(layout.type == "(ia{sv}av)")
        let children = try #require(layout.elements?[2].elements)
        #expect(children.count == 4)
        #expect(children[0].elements?[1].options?["label"]?.text == "a__b", "an underscore is no access key")
        #expect(children[1].elements?[1].options?["type"]?.text == "separator")
        #expect(children[2].elements?[1].options?["enabled"]?.bool == true)
        #expect(menu.layout(of: 0, depth: 0, names: [])?.elements?[2].elements == [])
        #expect(menu.layout(of: 5, depth: -1, names: []) == nil)
        #expect(menu.properties(of: 3, names: ["label"])?.count == 1)
    }

    @Test func onlyEnabledEntriesAreCommands() {
        #expect(menu.command(3, event: "clicked") == .lockAll)
        #expect(menu.command(3, event: "hovered") == nil)
        #expect(menu.command(4, event: "clicked") == nil, "a disabled entry")
        #expect(menu.command(1, event: "clicked") == nil)
        #expect(menu.command(0, event: "clicked") == nil)
        #expect(menu.command(-1, event: "clicked") == nil)
        #expect(menu.command(.max, event: "clicked") == nil)
        #expect(menu.command(.min, event: "clicked") == nil)
    }
}
