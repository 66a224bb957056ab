import ControlAPI
import HubAPI
import Localization
public import Observation

/// A device of the household in the list.
public struct DeviceItem: Equatable, Sendable, Identifiable {
    public var id: String
    public var name: String
    /// "Phone or browser · connected", "This computer".
    public var detail: String
    public var isThisComputer: Bool
    public var isCompanion: Bool
}

/// The devices of the household, and the hub that connects them.
@MainActor @Observable
public final class DevicesModel {
    public private(set) var devices: [DeviceItem] = []
    /// What to do if no phone confirmed the newest alert; empty otherwise.
    public private(set) var alertNotice = ""
    /// The hub's state in one sentence; empty before it was read.
    public var hub: String { status.map(Self.state(of:)) ?? "" }
    /// Whether there is a hub, so that a phone can be paired.
    public var hasHub: Bool { status?.url != nil }
    /// Whether a hub can be connected: there is none, and AppLocker is not starting its own.
    public var canConnect: Bool { status.map { $0.url == nil && $0.isStarting != true } ?? false }
    /// Why the list can't be read; empty if it can. Users who have never entered the passcode here are asked for it.
    public private(set) var problem = ""
    public let pairing: PairingModel
    public let restore: RestoreModel
    @ObservationIgnored public private(set) lazy var connection = HubModel(context) { [weak self] in
        await self?.load()
    }

    private let context: DesktopContext
    /// As it was when the list was read.
    private var status: HubStatus?

    public init(_ context: DesktopContext, checkWays: @escaping PairingModel.WaysCheck = { _ in nil }) {
        self.context = context
        pairing = PairingModel(context, checkWays: checkWays)
        restore = RestoreModel(context)
    }

    public func load() async {
        do {
            let token = context.session.token
            let status = try await context.control.call(\.hubStatus, token: token)
            if status != self.status { self.status = status }
            let list =
                status.url == nil
                ? DeviceList(devices: []) : try await context.control.call(\.listDevices, token: token)
            let items = list.devices.map(item)
            if items != devices { devices = items }
            let advice = list.unconfirmedAlert.map {
                DeviceList.advice(onUnconfirmedAlertAt: context.time.text($0))
            }
            alertNotice = localized(written: advice ?? "")
            problem = ""
        } catch is CancellationError {
        } catch {
            problem = sentence(error)
            (devices, alertNotice) = ([], "")
            status = nil
        }
    }

    /// Reads the hub's state, and the list if there is something new: each list is a request to the hub.
    public func refresh() async {
        guard let shown = status,
            var status = try? await context.control.call(\.hubStatus, token: context.session.token)
        else { return }
        (status.lastSync, status.waiting) = (shown.lastSync, shown.waiting)
        if status != shown { await load() }
    }

    /// Opens a session, with which the list can be read.
    public func showDevices() async {
        await context.attempt { try await context.session.open(localized("Show devices")) }
        await load()
    }

    public func rename(_ id: String, to name: String) async {
        guard let device = devices.first(where: { $0.id == id }), !name.isEmpty, name != device.name else { return }
        await context.attempt {
            try await context.session.perform(localized("Rename \(device.name)")) { token in
                _ = try await context.control.call(
                    \.renameDevice, parameter: id, token: token, body: RenameDeviceRequest(name: name))
            }
        }
        await load()
    }

    /// Revokes a lost device. The passcode is needed although a session is open: every key is replaced.
    public func revoke(_ id: String) async {
        guard let device = devices.first(where: { $0.id == id }) else { return }
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Revoke \(device.name)"),
                explanation: localized("It can't read anything new. Every key that it had is replaced."),
                verb: localized("Revoke"))
            let done = try await context.withSessionAndPasscode(question) { control, token, passcode in
                try await control.call(
                    \.revokeDevice, parameter: id, token: token, body: PasscodeRequest(passcode: passcode))
            }
            context.announce(localizedNote(done.notes) ?? localized("\(device.name) is revoked."))
        }
        await load()
    }

    private static func state(of status: HubStatus) -> String {
        if let url = status.url {
            // Of a connected hub the problem is what it can't be sent.
            let sentences = [
                status.connected
                    ? localized("Connected to the hub at \(url).") : localized("The hub at \(url) is not reached."),
                status.problem.map { localized(written: $0) },
            ]
            return sentences.compactMap { $0 }.joined(separator: " ")
        }
        if status.isStarting == true { return localized("The hub of this computer is starting.") }
        return (status.problem ?? status.joining).map { localized(written: $0) } ?? localized("There is no hub yet.")
    }

    private func item(_ device: DeviceReport) -> DeviceItem {
        var parts = [
            localized(
                device.isThisComputer ? "This computer" : device.role == .computer ? "Computer" : "Companion")
        ]
        if device.isConnected == true, !device.isThisComputer {
            parts.append(localized("connected"))
        } else if let seen = device.lastSeen, !device.isThisComputer {
            let time = context.time.text(seen)
            parts.append(localized("last seen \(time)"))
        }
        if device.hasPush == true { parts.append(localized("gets notifications")) }
        return DeviceItem(
            id: device.id, name: device.name, detail: parts.joined(separator: " · "),
            isThisComputer: device.isThisComputer, isCompanion: device.role.isCompanion)
    }
}

extension DesktopContext {
    /// For requests that need a session and the passcode: asks for it once, and opens a session with it where none is open.
    ///
    /// - Throws: as `PasscodePrompt.ask`.
    func withSessionAndPasscode<Reply: Sendable>(
        _ question: PasscodeQuestion,
        _ work: @escaping @MainActor (any DesktopControl, _ token: String, _ passcode: String) async throws -> Reply
    ) async throws -> Reply {
        let (control, session) = (control, session)
        return try await prompt.ask(question) { passcode in
            if session.token == nil { try await session.open(with: passcode) }
            do {
                return try await work(control, session.token ?? "", passcode)
            } catch let error as ControlError where error.code == .sessionNeeded {
                try await session.open(with: passcode)
                return try await work(control, session.token ?? "", passcode)
            }
        }
    }
}
