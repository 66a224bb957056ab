import ControlAPI

/// Watches for inactivity with the best available source, warns, and reports when the limit is reached. It locks
/// nothing itself.
actor IdleMonitor {
    struct Reports: Sendable {
        /// The source in use, and at the limit the time without input.
        var idle: @Sendable (IdleReport) async -> Void
        var warn: @Sendable (_ left: Duration) async -> Void
        /// The warning no longer applies.
        var withdrawWarning: @Sendable () async -> Void
        var lost: @Sendable (any Error) async -> Void
    }

    /// The interval of repeated reports at the limit, for a daemon that missed the first one.
    static let repetition: Duration = .seconds(60)

    private var reports: Reports?
    private let lead: Duration
    private let repetition: Duration
    private var watch = IdleWatch()
    private var source: (any IdleSource)?
    private var following: Task<Void, Never>?
    private var isWarning = false

    /// - Parameter lead: how long before the limit it warns.
    init(lead: Duration = IdlePolicy.warningLead, repetition: Duration = IdleMonitor.repetition) {
        self.lead = lead
        self.repetition = repetition
    }

    /// Must be called once, before anything else.
    func setReporter(_ reports: Reports) { self.reports = reports }

    var kind: IdleReport.Source { source?.kind ?? .none }

    /// Replaces the source; nil if there is none.
    func use(_ source: (any IdleSource)?) async {
        self.source = source
        await report()
        await follow()
    }

    func update(_ inactivity: SessionState.Inactivity) async {
        let limit = Duration.seconds(inactivity.limitSeconds)
        guard watch.update(limit: limit, isArmed: inactivity.isArmed, lead: lead, at: .now) else { return }
        await follow()
    }

    /// Reports the source in use to a daemon that has just connected.
    func report() async {
        let idle = await countedIdle() ?? .zero
        await reports?.idle(IdleReport(source: kind, idleSeconds: Int(idle.components.seconds)))
    }

    private func countedIdle() async -> Duration? {
        guard let idle = try? await source?.idleTime() else { return nil }
        return watch.counted(idle, at: .now)
    }

    private func follow() async {
        following?.cancel()
        following = nil
        await endWarning()
        guard let source, let policy = watch.policy else { return }
        following = Task { await self.follow(source, policy) }
    }

    private func follow(_ source: any IdleSource, _ policy: IdlePolicy) async {
        while !Task.isCancelled {
            do {
                try await step(source, policy)
            } catch is CancellationError {
                return
            } catch {
                if !Task.isCancelled { await reports?.lost(error) }
                return
            }
        }
    }

    private func step(_ source: any IdleSource, _ policy: IdlePolicy) async throws {
        let idle = try await source.idleTime()
        let counted = watch.counted(idle, at: .now)
        try Task.checkCancellation()
        switch policy.step(idleFor: counted) {
        case .wait(let target):
            await endWarning()
            if counted < idle {
                // The app was opened during inactivity: input can only extend the wait, never shorten it.
                try await Task.sleep(for: target - counted)
            } else {
                try await source.untilIdle(for: target)
            }
        case .warn(let left):
            if !isWarning {
                isWarning = true
                await reports?.warn(left)
            }
            try await FirstOf.sleeping(left) { try await source.untilTouched() }
        case .lock:
            await reports?.idle(IdleReport(source: source.kind, idleSeconds: Int(counted.components.seconds)))
            await endWarning()
            // The loop ends when the daemon reports that nothing is open any more.
            try await Task.sleep(for: repetition)
        }
    }

    private func endWarning() async {
        guard isWarning else { return }
        isWarning = false
        await reports?.withdrawWarning()
    }
}
