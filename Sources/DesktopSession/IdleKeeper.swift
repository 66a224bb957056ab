import WireProtocol

/// Watches for inactivity with the best source there is, warns, and tells when the limit is reached. It locks nothing
/// itself.
actor IdleKeeper {
    /// What it has to say. Called from the keeper.
    struct Reports: Sendable {
        /// Which source is in use, and at the limit how long nobody touched anything.
        var idle: @Sendable (IdleReport) async -> Void
        var warn: @Sendable (_ left: Duration) async -> Void
        /// The warning is out of date.
        var withdrawWarning: @Sendable () async -> Void
        /// The source in use is gone.
        var lost: @Sendable (any IdleSource, any Error) async -> Void
    }

    /// Between two reports of the same limit, for a daemon that did not hear the first.
    static let repetition: Duration = .seconds(60)

    private var reports: Reports?
    private let lead: Duration
    private let repetition: Duration
    private var watch = IdleWatch()
    private var source: (any IdleSource)?
    private var following: Task<Void, Never>?
    private var isWarning = false

    /// - Parameter lead: how long before the limit it warns.
    init(lead: Duration = IdlePolicy.warningLead, repetition: Duration = IdleKeeper.repetition) {
        self.lead = lead
        self.repetition = repetition
    }

    /// To be called once, first.
    func tell(_ reports: Reports) { self.reports = reports }

    var kind: IdleReport.Source { source?.kind ?? .none }

    /// Takes another source into use; nil where there is none.
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

    /// Says which source is in use, to a daemon that has just come.
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
                if !Task.isCancelled { await reports?.lost(source, error) }
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
                // Opened when nobody had been there for a while: whoever comes makes the wait longer, never shorter.
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
            // The daemon says when nothing is open any more, which ends this.
            try await Task.sleep(for: repetition)
        }
    }

    private func endWarning() async {
        guard isWarning else { return }
        isWarning = false
        await reports?.withdrawWarning()
    }
}
