import ControlAPI
import Localization

/// The tray's icon, tooltip and menu.
struct TrayState: Equatable, Sendable {
    typealias Protection = SessionState.Protection

    enum Command: Sendable {
        case open, lockAll, unlock, stop, closeIcon
    }

    struct Entry: Equatable, Sendable {
        enum Kind: Equatable, Sendable {
            /// An entry that informs and can't be chosen.
            case text
            case separator
            case command(Command)
        }

        var kind: Kind
        var label = ""
        var isEnabled = true
    }

    /// What this session offers besides the daemon.
    struct Means: Equatable, Sendable {
        /// Whether AppLocker's window is installed.
        var canOpen = false
        /// Whether a window or a terminal can ask for the passcode.
        var canUnlock = false
        /// Whether there is a terminal in which `applocker stop` can ask for the passcode.
        var canStop = false
    }

    var protection: Protection
    var title: String
    var detail: String
    var entries: [Entry]

    /// - Parameter session: nil while the daemon is unreachable.
    init(_ session: SessionState?, means: Means) {
        protection = session?.protection ?? .degraded
        (title, detail) = Self.words(session)
        let isReached = session != nil
        entries = [
            Entry(kind: .text, label: title, isEnabled: false),
            Entry(kind: .separator),
        ]
        if means.canOpen { entries.append(Entry(kind: .command(.open), label: localized("Open AppLocker"))) }
        entries += [
            Entry(kind: .command(.lockAll), label: localized("Lock all"), isEnabled: isReached),
            Entry(
                kind: .command(.unlock), label: localized("Unlock…"), isEnabled: isReached && means.canUnlock),
            Entry(kind: .separator),
        ]
        if means.canStop {
            entries.append(
                Entry(kind: .command(.stop), label: localized("Stop AppLocker…"), isEnabled: isReached))
        }
        entries.append(Entry(kind: .command(.closeIcon), label: localized("Close this icon (protection continues)")))
    }

    private static func words(_ session: SessionState?) -> (title: String, detail: String) {
        guard let session else {
            return (
                localized("AppLocker is not running"),
                localized("Its service can't be reached. Locked apps stay locked while the gate runs.")
            )
        }
        let open = openThings(session)
        switch session.protection {
        case .degraded:
            let reasons = session.degraded.map { ShownLine.plain(localized(written: $0)) }.joined(separator: " ")
            return (localized("Protection is degraded"), [reasons, open].filter { !$0.isEmpty }.joined(separator: " "))
        case .unlocked: return (localized(session.monitoringIsOn ? "Apps are unlocked" : "All apps are unlocked"), open)
        case .locked: return (localized("Everything is locked"), "")
        }
    }

    private static func openThings(_ session: SessionState) -> String {
        var open: [String] = []
        if !session.monitoringIsOn { open.append(localized("Monitoring is off: every app starts without a prompt.")) }
        let apps = session.unlockedApps
        if apps > 0 {
            open.append(localized(apps, one: "\(apps) app is unlocked.", other: "\(apps) apps are unlocked."))
        }
        if session.vaultIsOpen { open.append(localized("The vault is open.")) }
        return open.joined(separator: " ")
    }
}

extension SessionState.Protection {
    /// A name in the icon theme; the drawings are in Packaging/icons.
    var icon: String { "applocker-\(rawValue)-symbolic" }
}
