import WireProtocol

/// The launches that wait for this user, oldest first. One is asked about at a time: with a window each, a passcode
/// could end up in the wrong one when a second window took the keyboard in the middle of a word.
///
/// A value without clock or window; time is passed in.
struct PromptQueue {
    typealias Instant = ContinuousClock.Instant

    /// How long after its end a launch is kept when the daemon has not said that it is settled.
    static let grace: Duration = .seconds(3)

    private(set) var launches: [WaitingLaunch] = []
    /// Until when no passcode is looked at: it holds for the whole computer, so for every launch that waits.
    private(set) var lockedOutUntil: Instant?
    /// Something that has to be read before the window goes; shown when no launch is.
    private(set) var notice: Notice?

    /// A launch that was allowed but could not be started again.
    struct Notice: Equatable {
        var name: String
        var icon: String?
        var text: String
    }

    var current: WaitingLaunch? { launches.first }

    mutating func ask(_ report: PromptReport, at now: Instant) {
        noteLockout(report.lockout.remainingSeconds, at: now)
        let launch = WaitingLaunch(report: report, askedAt: now)
        if let index = launches.firstIndex(where: { $0.id == report.prompt }) {
            launches[index] = launch
        } else {
            launches.append(launch)
        }
    }

    mutating func settle(_ prompt: String) { launches.removeAll { $0.id == prompt } }

    /// The daemon is away: it denies what waited.
    mutating func settleAll() { launches = [] }

    mutating func dropExpired(at now: Instant) {
        launches.removeAll { $0.deniedAt + Self.grace <= now && !$0.isBeingAnswered }
    }

    mutating func beginAnswer(_ prompt: String) {
        change(prompt) {
            $0.isBeingAnswered = true
            $0.refusal = nil
        }
    }

    /// The daemon did not accept the answer, and the launch goes on waiting.
    mutating func refuse(_ prompt: String, _ sentence: String, lockoutSeconds: Int?, at now: Instant) {
        if let lockoutSeconds { noteLockout(lockoutSeconds, at: now) }
        change(prompt) {
            $0.isBeingAnswered = false
            $0.refusal = sentence
            $0.refusals += 1
        }
    }

    mutating func show(_ notice: Notice) { self.notice = notice }

    mutating func dismissNotice() { notice = nil }

    private mutating func noteLockout(_ seconds: Int, at now: Instant) {
        lockedOutUntil = seconds > 0 ? now + .seconds(seconds) : nil
    }

    private mutating func change(_ prompt: String, _ body: (inout WaitingLaunch) -> Void) {
        guard let index = launches.firstIndex(where: { $0.id == prompt }) else { return }
        body(&launches[index])
    }
}

struct WaitingLaunch {
    let report: PromptReport
    let askedAt: PromptQueue.Instant
    /// True from the moment Unlock was pressed until the daemon has answered.
    var isBeingAnswered = false
    /// Why the last answer was not accepted.
    var refusal: String?
    /// How many answers were not accepted: each one shakes the window once.
    var refusals = 0

    var id: String { report.prompt }
    var deniedAt: PromptQueue.Instant { askedAt + .seconds(report.expiresInSeconds) }

    init(report: PromptReport, askedAt: PromptQueue.Instant) {
        self.report = report
        self.askedAt = askedAt
    }
}
