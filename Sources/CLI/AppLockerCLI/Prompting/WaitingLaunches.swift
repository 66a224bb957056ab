import ControlAPI
import Foundation

/// The pending launches, oldest first. The stream of events adds them, the prompter removes them.
actor WaitingLaunches {
    private var waiting: [WaitingLaunch] = []
    /// The launch of the current prompt.
    private var current: WaitingLaunch?
    private var hasEnded = false
    private var taker: CheckedContinuation<WaitingLaunch?, Never>?

    var count: Int { waiting.count }

    func add(_ report: PromptReport) {
        waiting.append(WaitingLaunch(report))
        hand()
    }

    /// The launch was answered or timed out: no prompt is needed any more.
    func settle(_ prompt: String, _ outcome: PromptOutcome) {
        waiting.removeAll { $0.report.prompt == prompt }
        if let current, current.report.prompt == prompt { current.settle(outcome) }
    }

    /// AppLocker has stopped, so nothing is pending any more.
    func end() {
        hasEnded = true
        waiting = []
        current?.settle(.gone)
        hand()
    }

    /// The launch of the next prompt; nil after `end`.
    func next() async -> WaitingLaunch? {
        current = nil
        return await withCheckedContinuation { continuation in
            taker = continuation
            hand()
        }
    }

    private func hand() {
        guard let taker, hasEnded || !waiting.isEmpty else { return }
        self.taker = nil
        current = waiting.isEmpty ? nil : waiting.removeFirst()
        taker.resume(returning: current)
    }
}

/// A pending launch, with a descriptor that ends a blocked prompt for it.
final class WaitingLaunch: Sendable {
    let report: PromptReport
    let arrived = ContinuousClock.now
    private let ended: EndSignal

    init(_ report: PromptReport) {
        self.report = report
        ended = EndSignal()
    }

    /// Readable once the launch is settled.
    var cancelDescriptor: Int32 { ended.readEnd }
    var outcome: PromptOutcome? { ended.outcome }

    func settle(_ outcome: PromptOutcome) { ended.set(outcome) }

    /// Seconds until it is denied, rounded up, at least 0.
    var secondsLeft: Int {
        let passed = ContinuousClock.now - arrived
        return max(0, report.expiresInSeconds - Int(passed.components.seconds))
    }
}

/// An outcome that wakes a thread in poll(2): setting it closes one end of a pipe.
///
/// @unchecked Sendable: `lock` guards everything that changes.
private final class EndSignal: @unchecked Sendable {
    let readEnd: Int32
    private var writeEnd: Int32
    private var stored: PromptOutcome?
    private let lock = NSLock()

    /// If no descriptor is available, `readEnd` is -1, which poll(2) ignores: the prompt then ends by its time limit.
    init() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        if socketpair(AF_UNIX, kind, 0, &ends) != 0 { ends = [-1, -1] }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        if readEnd >= 0 { close(readEnd) }
        if writeEnd >= 0 { close(writeEnd) }
    }

    var outcome: PromptOutcome? { lock.withLock { stored } }

    func set(_ outcome: PromptOutcome) {
        lock.withLock {
            guard stored == nil else { return }
            stored = outcome
            if writeEnd >= 0 { close(writeEnd) }
            writeEnd = -1
        }
    }
}
