import ControlAPI
import Foundation
import Localization
public import Observation

/// How a hub is reached where the system's ways are not enough.
public struct HubNetwork: Equatable, Sendable {
    /// Absolute path of a PEM file with the certificates to trust instead of the system's; nil for the system's.
    public var certificates: String?
    /// "http://proxy.example:3128"; empty for none.
    public var proxy: String

    public init(certificates: String? = nil, proxy: String = "") {
        (self.certificates, self.proxy) = (certificates, proxy)
    }

    fileprivate var usedProxy: String? {
        let trimmed = proxy.trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? nil : trimmed
    }
}

/// Connects this computer to a hub, and to the household of another computer.
@MainActor @Observable
public final class HubModel {
    /// How far joining is, as one sentence; empty where nothing is under way.
    public private(set) var joining = ""
    public private(set) var isJoining = false
    public private(set) var isConnecting = false
    /// Whether a hub can be started on this computer; it can be installed while the window is open.
    @ObservationIgnored public var canStartHere: @MainActor () -> Bool = { false }
    /// Starts the hub's service on this computer, after an administrator's password. Returns once it listens.
    @ObservationIgnored public var startHere: @MainActor () async throws -> Void = {}

    /// Where the hub's service listens, if its options were not changed.
    public nonisolated static let portHere: UInt16 = 8_440
    static let addressHere = "http://127.0.0.1:\(portHere)"

    private let context: DesktopContext
    /// The state changed: devices are read again.
    private let changed: () async -> Void

    init(_ context: DesktopContext, changed: @escaping () async -> Void) {
        self.context = context
        self.changed = changed
    }

    /// Founds a household at a hub.
    ///
    /// - Parameters:
    ///   - address: without a scheme it is one of https.
    ///   - invitation: a link of the hub's operator, or the hub's registration token; empty where it needs none.
    /// - Returns: whether it is connected.
    public func connect(to address: String, invitation: String, by network: HubNetwork = .init()) async -> Bool {
        let address = address.trimmingCharacters(in: .whitespacesAndNewlines)
        let invitation = invitation.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !address.isEmpty, !isConnecting else { return false }
        isConnecting = true
        defer { isConnecting = false }
        let request = ConnectHubRequest(
            url: address.contains("://") ? address : "https://\(address)",
            registrationToken: invitation.isEmpty ? nil : invitation, certificates: network.certificates,
            proxy: network.usedProxy)
        guard let status = await context.attempt({ try await send(request) }) else { return false }
        await finish(status, request)
        return true
    }

    /// Starts the hub of this computer and founds a household there. A program on the hub's own machine needs no
    /// invitation.
    public func setUpHere() async {
        guard !isConnecting else { return }
        isConnecting = true
        defer { isConnecting = false }
        let request = ConnectHubRequest(url: Self.addressHere)
        let status = await context.attempt {
            // The passcode first: a hub that nothing connects to would stay otherwise.
            try await context.session.perform(Self.title) { _ in }
            try await startHere()
            return try await send(request)
        }
        if let status { await finish(status, request) }
    }

    private static var title: String { localized("Connect to a hub") }

    private func send(_ request: ConnectHubRequest) async throws -> HubStatus {
        try await context.session.perform(Self.title) { [control = context.control] token in
            try await control.call(\.connectHub, token: token, body: request)
        }
    }

    private func finish(_ status: HubStatus, _ request: ConnectHubRequest) async {
        let url = status.url ?? request.url
        context.announce(localized("Connected to the hub at \(url)."))
        await changed()
    }

    /// Asks the other computer, waits until it has confirmed, and gives the household's phones the keys of this
    /// computer's vault.
    ///
    /// - Parameter link: what the other computer shows.
    /// - Returns: whether this computer is in the household.
    public func join(_ link: String, by network: HubNetwork = .init()) async -> Bool {
        let request = JoinHubRequest(
            link: link.trimmingCharacters(in: .whitespacesAndNewlines), certificates: network.certificates,
            proxy: network.usedProxy)
        guard !request.link.isEmpty, !isJoining else { return false }
        isJoining = true
        defer {
            isJoining = false
            joining = ""
        }
        let hasJoined = await context.attempt {
            let title = localized("Join a household")
            var report = try await context.session.perform(title) { [control = context.control] token in
                try await control.call(\.joinHub, token: token, body: request)
            }
            while report.state == .waiting || report.state == .admitted {
                joining = localized(written: report.sentence)
                report = try await nextReport() ?? report
            }
            guard report.state == .joined else { throw ControlError(.hub, report.sentence) }
            context.announce(localized(written: report.sentence))
            return true
        }
        await changed()
        guard hasJoined == true else { return false }
        await sendKeys()
        return true
    }

    /// Nil while AppLocker does not answer: after its restart it continues to join.
    private func nextReport() async throws -> JoiningReport? {
        do {
            return try await context.control.call(
                \.joining, query: WaitQuery(wait: 20), token: context.session.token)
        } catch is DaemonUnreachable {
            try await context.time.sleep(.seconds(1))
            return nil
        }
    }

    /// Only the passcode opens them; it was not kept while the other computer was waited for.
    private func sendKeys() async {
        let isSent: Void? = await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Joined the household"),
                explanation: localized("With the passcode your phones can read this computer's notes, too."),
                verb: localized("Allow"))
            _ = try await context.withSessionAndPasscode(question) { control, token, passcode in
                try await control.call(\.sendVaultKeys, token: token, body: PasscodeRequest(passcode: passcode))
            }
            context.announce(localized("Your phones see this computer and read its notes from now on."))
        }
        if isSent == nil {
            context.announce(
                localized("Your phones can read this computer's notes once you have opened the vault."))
        }
    }

    /// Leaves the hub. If no other computer is in the household, every paired device loses access.
    public func disconnect() async {
        await context.attempt {
            let title = localized("Leave the hub")
            let done = try await context.session.perform(title) { [control = context.control] token in
                try await control.call(\.disconnectHub, token: token)
            }
            context.announce(localizedNote(done.notes) ?? localized("AppLocker is not connected to a hub."))
        }
        await changed()
    }
}
