public import ControlAPI
import HubAPI
import Localization
public import Observation

/// Pairs a phone or another computer: shows a link, for a phone as a QR code, compares three words, confirms with the passcode.
@MainActor @Observable
public final class PairingModel {
    public enum State: Equatable, Sendable {
        case idle
        /// Whether a phone can reach the hub is being checked.
        case checking
        /// The link is being made.
        case starting
        /// No phone could use the link: why, and what a person can do.
        case unreachable(problem: String, ways: [String])
        /// The link is on the screen.
        case waiting(link: String)
        /// A device has joined and shows these words, if it is the one that scanned the code.
        case joined(name: String, words: String)
        case paired(name: String)
        /// It ended, with a sentence.
        case ended(String)
    }

    public private(set) var state = State.idle
    /// Whether the link is for a computer, where it is pasted.
    public private(set) var isForComputer = false

    /// Checks whether a phone can reach the hub, at this address or at any; nil where that can't be checked.
    public typealias WaysCheck = @Sendable (_ address: String?) async -> PhoneWaysReport?

    private let context: DesktopContext
    private let checkWays: WaysCheck
    @ObservationIgnored private var id: String?
    /// How often an invitation was begun or cancelled.
    @ObservationIgnored private var checks = 0
    @ObservationIgnored private var waiting: Task<Void, Never>?

    init(_ context: DesktopContext, checkWays: @escaping WaysCheck) {
        self.context = context
        self.checkWays = checkWays
    }

    /// Creates an invitation, which is valid for five minutes, and waits for a device.
    ///
    /// - Parameters:
    ///   - address: the hub's as the other device reaches it; nil: as this computer does.
    ///   - isChecked: whether an address that no phone can use is refused.
    public func start(address: String? = nil, forComputer: Bool = false, isChecked: Bool = true) async {
        await cancel()
        isForComputer = forComputer
        var address = address
        if isChecked, !forComputer {
            state = .checking
            let check = checks
            let report = await checkWays(address)
            // Cancelled meanwhile.
            guard check == checks else { return }
            state = .idle
            if let report, let problem = report.problem {
                guard let working = report.address else {
                    state = .unreachable(
                        problem: localized(written: problem), ways: report.ways.map { localized(written: $0) })
                    return
                }
                address = working
            }
        }
        state = .starting
        let check = checks
        let pairing = await context.attempt {
            try await context.session.perform(title) { token in
                try await context.control.call(
                    \.makePairing, token: token,
                    body: NewPairingRequest(address: address, role: forComputer ? .computer : nil))
            }
        }
        // Cancelled, or started again.
        guard check == checks else {
            if let pairing { await withdraw(pairing.id) }
            return
        }
        state = .idle
        guard let pairing, let link = pairing.link else { return }
        id = pairing.id
        state = .waiting(link: link)
        waiting = Task { [weak self] in await self?.waitForDevice(pairing.id) }
    }

    /// What the passcode is asked for.
    private var title: String { localized(isForComputer ? "Add a computer" : "Pair a phone") }

    /// Asks for the passcode again where the session ends before a device joins. The id is kept after an error, so that
    /// the invitation can be withdrawn.
    private func waitForDevice(_ pairing: String) async {
        while !Task.isCancelled, id == pairing {
            do {
                let report = try await context.session.perform(title) { token in
                    try await context.control.call(
                        \.pairing, parameter: pairing, query: WaitQuery(wait: 20), token: token)
                }
                guard id == pairing else { return }
                if report.state == .joined {
                    state = .joined(
                        name: report.name ?? localized("A device"), words: (report.words ?? []).joined(separator: " "))
                    return
                }
                if report.expiresInSeconds <= 0 {
                    throw ControlError(.noSuchItem, localized("No device joined in five minutes."))
                }
            } catch {
                guard !Task.isCancelled, id == pairing else { return }
                // The user cancelled the passcode dialog.
                let isCancelled = error is CancellationError
                state = .ended(isCancelled ? localized("Pairing needs the passcode.") : sentence(error))
                return
            }
        }
    }

    /// Admits the device. The words were compared before.
    public func confirm() async {
        guard let id, case .joined(let name, _) = state else { return }
        let question = PasscodeQuestion(
            title: localized("Pair \(name)"),
            explanation: localized("It receives the keys of this computer's sealed content."),
            verb: localized("Pair"))
        let device = await context.attempt {
            try await context.withSessionAndPasscode(question) { control, token, passcode in
                try await control.call(
                    \.confirmPairing, parameter: id, token: token, body: PasscodeRequest(passcode: passcode))
            }
        }
        guard let device else { return }
        self.id = nil
        state = .paired(name: device.name)
    }

    /// Withdraws the invitation: its link stops working.
    public func cancel() async {
        checks += 1
        waiting?.cancel()
        waiting = nil
        state = .idle
        guard let id else { return }
        self.id = nil
        await withdraw(id)
    }

    private func withdraw(_ pairing: String) async {
        do {
            try await context.control.call(\.endPairing, parameter: pairing, token: context.session.token)
        } catch let error as ControlError where error.code == .sessionNeeded {
            context.announce(
                localized("Without the passcode the link is not withdrawn. It stops working after five minutes."))
        } catch {
            // It has ended, or ends by itself.
        }
    }
}
