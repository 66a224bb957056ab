import Foundation
import WireProtocol

/// The launches that wait for an answer, oldest first: filled by the stream of events, emptied by who asks.
actor WaitingLaunches {
    private var waiting: [WaitingLaunch] = []
    /// The one that is being asked about.
    private var current: WaitingLaunch?
    private var hasEnded = false
    private var taker: CheckedContinuation<WaitingLaunch?, Never>?

    var count: Int { waiting.count }

    func add(_ report: PromptReport) {
        waiting.append(WaitingLaunch(report))
        hand()
    }

    /// Somebody answered, or nobody did in time: it is not asked about any more.
    func settle(_ prompt: String, _ outcome: PromptOutcome) {
        waiting.removeAll { $0.report.prompt == prompt }
        if let current, current.report.prompt == prompt { current.settle(outcome) }
    }

    /// AppLocker went away, and with it everything that waited.
    func end() {
        hasEnded = true
        waiting = []
        current?.settle(.gone)
        hand()
    }

    /// The next one to ask about; nil after `end`.
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

/// A launch that waits, and a descriptor that tells a blocked question about it to end.
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

/// An outcome that a thread in poll(2) notices: setting it closes one end of a pipe.
///
/// @unchecked Sendable: everything that changes is guarded by `lock`.
private final class EndSignal: @unchecked Sendable {
    let readEnd: Int32
    private var writeEnd: Int32
    private var stored: PromptOutcome?
    private let lock = NSLock()

    /// Without a descriptor to be had, `readEnd` is -1, which poll(2) passes over: the question then ends by its time.
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
