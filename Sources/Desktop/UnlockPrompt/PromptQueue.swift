import ControlAPI

/// This user's pending launches, oldest first. One prompt is shown at a time: with a window each, a second one could
/// take the focus in the middle of a word and receive the rest of a passcode.
///
/// A value without clock or window; time is a parameter.
struct PromptQueue {
    typealias Instant = ContinuousClock.Instant

    /// How long a launch is kept after its time limit if the daemon hasn't reported its end.
    static let grace: Duration = .seconds(3)

    private(set) var launches: [WaitingLaunch] = []
    /// No passcode is accepted until then. A lockout applies to the whole computer, so to every pending launch.
    private(set) var lockedOutUntil: Instant?
    /// A message to read before the window closes; shown when no launch is pending.
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

    /// The daemon is unreachable: it denies the pending launches.
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

    /// The daemon did not accept the answer; the launch is still pending.
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
    /// True from pressing Unlock until the daemon has answered.
    var isBeingAnswered = false
    /// Why the last answer was not accepted.
    var refusal: String?
    /// The number of refused answers: each one shakes the window once.
    var refusals = 0

    var id: String { report.prompt }
    var deniedAt: PromptQueue.Instant { askedAt + .seconds(report.expiresInSeconds) }
}
