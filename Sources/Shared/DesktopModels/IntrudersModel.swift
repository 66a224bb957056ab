import ControlAPI
public import Observation

/// An intruder photo in the list.
public struct IntruderItem: Equatable, Sendable, Identifiable {
    public var id: String
    /// "2026-01-31 14:05".
    public var title: String
    /// "After 3 wrong passcodes for Firefox".
    public var detail: String
}

/// The intruder photos of the open vault. A picture is opened when it is looked at, and is in memory until then only.
@MainActor @Observable
public final class IntrudersModel {
    public private(set) var items: [IntruderItem] = []
    /// The photo that is shown, a JPEG; nil: none.
    public private(set) var photo: [UInt8]?
    public private(set) var shown: IntruderItem?

    private let context: DesktopContext
    private let vault: VaultModel

    public init(_ context: DesktopContext, _ vault: VaultModel) {
        self.context = context
        self.vault = vault
        vault.onLock.append { [unowned self] in
            items = []
            close()
        }
    }

    public func load() async {
        let read = await vault.read {
            let list = try await context.control.call(\.listIntruders)
            let apps = (try? await context.control.call(\.listApps).apps) ?? []
            return (list, Dictionary(apps.map { ($0.id, $0.name) }) { $1 })
        }
        guard let (list, names) = read else { return }
        let items = list.intruders.map { photo in
            let app = photo.app.map { " for \(names[$0] ?? $0)" } ?? ""
            let attempts = SpokenDuration.count(photo.failures, "wrong passcode")
            return IntruderItem(
                id: photo.id, title: context.time.text(photo.time), detail: "After \(attempts)\(app)")
        }
        if items != self.items { self.items = items }
    }

    public func open(_ id: String) async {
        let reply = await vault.read { try await context.control.call(\.readIntruder, parameter: id) }
        guard let reply, let item = items.first(where: { $0.id == id }) else { return }
        shown = item
        photo = Array(reply.photo)
    }

    public func close() {
        shown = nil
        photo = nil
    }

    public func remove(_ id: String) async {
        let done = await vault.read { try await context.control.call(\.removeIntruder, parameter: id) }
        guard done != nil else { return }
        close()
        context.announce("The photo is removed.")
        await load()
    }
}
