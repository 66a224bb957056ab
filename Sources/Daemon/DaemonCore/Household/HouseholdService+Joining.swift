import ControlAPI
import Foundation
import Household
import HubAPI
import Policy
import SealedFormats
import Sync

/// The stored state while this computer waits to be admitted, so that joining continues after a restart.
struct StoredJoining: Codable {
    var settings: HubSettings
    var household: ItemID
    /// The device that invited.
    var computer: ItemID
    var invitation: ItemID
    /// This computer's box key and token, sealed like those of a household.
    var keys: Data
    /// The hub has acknowledged the request.
    var isAsked: Bool
    /// As `Invitation.words`.
    var words: [String]?
}

// Joining a household that another computer, or a phone, founded. The owner confirms there; everything is checked here before use.
extension HouseholdService {
    /// A household that this computer asks to join.
    struct Joining {
        var stored: StoredJoining
        let secrets: HouseholdSecrets
        let hub: any HubConnection
        /// Since boot.
        let asked: Duration
        var report: JoiningReport
    }

    /// An invitation's five minutes, the owner's time to confirm, and a margin.
    private static let patience = Duration.seconds(960)

    private static func waiting(_ stored: StoredJoining) -> JoiningReport {
        let words = stored.words?.joined(separator: " ")
        return JoiningReport(
            state: .waiting, url: stored.settings.url,
            sentence: words.map {
                "The other device shows this one's name and the words “\($0)”. Compare, then confirm there."
            } ?? "The other device shows this one's name. Compare, then confirm there.")
    }

    func loadJoining() async throws {
        revocationNotice = try await store.document(HouseholdDocuments.revocationNotice).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let stored = try await store.decoded(StoredJoining.self, HouseholdDocuments.joining) else { return }
        guard let secrets = try? secrets(of: stored), let hub = try? ports.connect(stored.settings, secrets.token)
        else {
            // Nothing depends on it yet: the owner can join with another link.
            return try await store.write(StateChange(documents: [HouseholdDocuments.joining: nil]))
        }
        joining = Joining(
            stored: stored, secrets: secrets, hub: hub, asked: time.elapsed(),
            report: Self.waiting(stored))
        joiningSignal.raise()
    }

    private func secrets(of stored: StoredJoining) throws -> HouseholdSecrets {
        try HouseholdSecrets(
            sealed: [UInt8](stored.keys), household: stored.household, signingKey: signingKey,
            machineSecret: machineSecret)
    }

    // MARK: Asking

    /// Asks to join by a link of `applocker pair --computer`. Returns as soon as the hub has the request.
    ///
    /// - Throws: `ControlError` with `badRequest` (the link), `notSetUp` or `hub`.
    func join(_ link: String, _ settings: HubSettings) async throws -> JoiningReport {
        let (invitation, url) = try Self.read(link)
        // Not while an earlier attempt is being completed.
        return try await memberships.perform { try await join(by: invitation, at: url, settings) }
    }

    private func join(
        by invitation: Invitation, at url: String, _ settings: HubSettings
    ) async throws -> JoiningReport {
        try requireFree(for: invitation.household)
        guard try await !householdsLeft().contains(invitation.household) else { throw Self.neverComesBack }
        guard await passcodes.isSetUp else {
            throw ControlError(.notSetUp, "No passcode is set yet. Set one with `applocker setup`.")
        }
        if let joining, joining.stored.invitation == invitation.id { return joining.report }
        var settings = settings
        settings.url = url
        // A device that was admitted, and stopped before it received that, has to join with the same keys.
        let earlier = joining.flatMap { $0.stored.household == invitation.household ? $0.secrets : nil }
        let secrets =
            earlier
            ?? HouseholdSecrets(
                household: invitation.household, signingKey: signingKey, boxKey: BoxKeyPair(),
                token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        let hub: any HubConnection
        do {
            hub = try ports.connect(settings, secrets.token)
        } catch {
            throw ControlError(hub: error)
        }
        let stored = StoredJoining(
            settings: settings, household: invitation.household, computer: invitation.computer,
            invitation: invitation.id, keys: Data(sealedKeys(secrets)), isAsked: false,
            words: invitation.words(signingKey: signingKey.publicKey, boxKey: secrets.boxKey.publicKey))
        try await save(stored)
        joiningOutcome = nil
        joining = Joining(
            stored: stored, secrets: secrets, hub: hub, asked: time.elapsed(), report: Self.waiting(stored))
        do {
            let isIn = earlier != nil ? (try? await hub.ownDevice().state) == .active : false
            if !isIn { try await ask(invitation, secrets, hub) }
        } catch let error as HubUnreachable {
            // The hub may have the request, with only its reply lost. That is checked once the hub can be reached.
            joiningSignal.raise()
            throw ControlError(hub: error)
        } catch {
            if earlier == nil { try await forgetJoining() }
            throw ControlError(hub: error)
        }
        joining?.stored.isAsked = true
        if let stored = joining?.stored { try await save(stored) }
        joiningSignal.raise()
        return Self.waiting(stored)
    }

    private func save(_ stored: StoredJoining) async throws {
        try await store.write(
            StateChange(documents: [HouseholdDocuments.joining: try [UInt8](JSONEncoder().encode(stored))]))
    }

    private static func read(_ link: String) throws -> (invitation: Invitation, url: String) {
        let (invitation, url): (Invitation, String)
        do {
            (invitation, url) = try Invitation.reading(link: link.trimmingCharacters(in: .whitespacesAndNewlines))
        } catch {
            throw ControlError(.badRequest, error.sentence)
        }
        guard invitation.role == .computer else {
            throw ControlError(
                .badRequest,
                "This link is for a phone. For a computer, run `applocker pair --computer` on the other one, or choose "
                    + "Settings, Devices on a phone that began with AppLocker.")
        }
        return (invitation, url)
    }

    /// A household at the hub of `applocker up` that never had another device holds nothing that is not here, so it is
    /// replaced. The owner has to leave any other one first.
    func requireFree(for household: ItemID) throws {
        guard let session else { return }
        guard session.roster.household != household else {
            throw ControlError(
                .hub, "This computer is already in that household; `applocker devices` lists its devices.")
        }
        guard session.settings.isEmbedded, session.roster.entries.count == 1 else {
            throw ControlError(
                .hub,
                "This computer is in a household already, at \(session.settings.url). Leave it with `applocker hub "
                    + "disconnect`, then join with a new link. Phones of that household have to be paired again.")
        }
    }

    private func ask(_ invitation: Invitation, _ secrets: HouseholdSecrets, _ hub: any HubConnection) async throws {
        let request = try secrets.joinRequest(to: invitation, as: .computer, name: shortName)
        do {
            try await hub.join(HubID(invitation.id), request)
        } catch let error as HubError {
            switch error.code {
            case .notFound, .gone:
                throw ControlError(
                    .hub,
                    "This link has expired, was used or was withdrawn. Create a new one on the "
                        + "other computer with `applocker pair --computer`, or on the phone that showed it.")
            case .conflict:
                throw ControlError(
                    .hub,
                    "This computer is already registered at this hub, in another household or from before. Leave that "
                        + "household with `applocker hub disconnect`, then join with a new link.")
            default: throw error
            }
        }
    }

    /// Withdraws the request to join.
    func endJoining() async throws {
        guard joining != nil else { return }
        try await forgetJoining()
        end(.failed, "The request to join was cancelled.", url: nil)
    }

    private func forgetJoining() async throws {
        try await store.write(StateChange(documents: [HouseholdDocuments.joining: nil]))
        joining = nil
    }

    // MARK: Waiting

    /// The state of joining. Returns as soon as it changes, or after this many seconds.
    ///
    /// - Throws: `ControlError` with `noSuchItem`.
    func joiningReport(waitingUpTo seconds: Int) async throws -> JoiningReport {
        guard let first = joining?.report ?? joiningOutcome else {
            throw ControlError(
                .noSuchItem, "This computer is not joining a household; run `applocker hub join`.")
        }
        let deadline = time.elapsed() + .seconds(seconds)
        while true {
            let report = joining?.report ?? joiningOutcome ?? first
            let now = time.elapsed()
            guard report == first, joining != nil, deadline > now else { return report }
            let nap = Task { [time, end = min(deadline, now + .seconds(2))] in
                try? await time.sleep(until: end)
                wakeJoining()
            }
            await withCheckedContinuation { joiningWaiters.append($0) }
            nap.cancel()
        }
    }

    private func wakeJoining() {
        let waiters = joiningWaiters
        joiningWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    func end(_ state: JoiningReport.State, _ sentence: String, url: String?) {
        joiningOutcome = JoiningReport(state: state, url: url, sentence: sentence)
        wakeJoining()
    }

    /// Continues a request to join until it succeeds or fails. Runs for as long as the daemon.
    func followJoining() async {
        for await _ in joiningSignal.raised {
            var wait = Duration.seconds(1)
            var backoff = Backoff(first: .seconds(2), longest: .seconds(30), jitter: 1...1)
            while let joining, !Task.isCancelled {
                do {
                    try await continueJoining(joining)
                    wait = .seconds(1)
                    backoff.succeeded()
                } catch let refusal as JoiningRefusal {
                    await fail(joining, refusal)
                } catch {
                    // The hub is unreachable, or the disk is full: it is tried again, and nothing is lost.
                    setReport(.waiting, ControlError(hub: error).message, joining)
                    wait = backoff.next()
                    if !joining.stored.isAsked, isTooLate(joining) {
                        await fail(
                            joining, JoiningRefusal("The hub was not reached in time; start again with a new link."))
                    }
                }
                guard self.joining != nil else { break }
                do { try await time.sleep(until: time.elapsed() + wait) } catch { return }
            }
            if Task.isCancelled { return }
        }
    }

    private func isTooLate(_ joining: Joining) -> Bool { time.elapsed() - joining.asked > Self.patience }

    private func isUnderWay(_ joining: Joining) -> Bool {
        self.joining?.stored.invitation == joining.stored.invitation
    }

    private func setReport(_ state: JoiningReport.State, _ sentence: String, _ joining: Joining) {
        guard isUnderWay(joining) else { return }
        let report = JoiningReport(state: state, url: joining.stored.settings.url, sentence: sentence)
        guard self.joining?.report != report else { return }
        self.joining?.report = report
        wakeJoining()
    }

    private func fail(_ joining: Joining, _ refusal: JoiningRefusal) async {
        guard isUnderWay(joining) else { return }
        // If the write fails, the next start repeats this.
        try? await forgetJoining()
        self.joining = nil
        if refusal.isHubsFault { await log.enqueue(.hubMisbehaved, refusal.sentence) }
        end(.failed, refusal.sentence, url: joining.stored.settings.url)
    }

    private func continueJoining(_ joining: Joining) async throws {
        do {
            guard try await joining.hub.ownDevice().state == .active else {
                guard !isTooLate(joining) else {
                    throw JoiningRefusal("The owner did not confirm in time; start again with a new link.")
                }
                return setReport(.waiting, Self.waiting(joining.stored).sentence, joining)
            }
        } catch let error as HubError where error.code == .unauthorized {
            throw JoiningRefusal("The owner did not confirm in time; start again with a new link.")
        }
        let admission = Admission(
            hub: joining.hub, secrets: joining.secrets, inviter: joining.stored.computer, usesEpochKeys: false)
        let roster = try await admission.roster()
        guard let keys = try await admission.keys(roster) else {
            return setReport(.admitted, "The owner confirmed. Waiting for the keys from the other device.", joining)
        }
        try await memberships.perform {
            guard isUnderWay(joining) else { return }
            // Keys of other vaults are dropped: this computer must not have them while it is locked.
            try await enter(joining, roster, keys.secrets, roster.isPhoneFounded ? keys.ofVault : KeyRing([]))
        }
    }
}

/// Why a computer can't join a household. The refusal is final for this link.
struct JoiningRefusal: Error {
    let sentence: String
    let isHubsFault: Bool

    init(_ sentence: String, isHubsFault: Bool = false) {
        self.sentence = sentence
        self.isHubsFault = isHubsFault
    }
}
