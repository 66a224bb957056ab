import CLinux
import Foundation
import Synchronization

/// One child that is kept running: it is restarted after each death, and each death is reported in one line.
///
/// Thread-safe. A thread of its own starts the child, waits for it and reaps it. It is always the same thread, because
/// a parent-death signal is sent when the starting thread ends.
final class SupervisedProcess: Sendable {
    /// What differs between children.
    struct Behaviour: Sendable {
        /// The name in reports: "gate".
        var name: String
        var policy: RestartPolicy
        /// Starts the child and returns its process number. Called on the child's thread.
        var launch: @Sendable () throws(SupervisorError) -> pid_t
        /// Whether the child reports that it works.
        var isReady: @Sendable () -> Bool = { false }
        /// Called after the child has ended and before its process number can be reused.
        var ended: @Sendable () -> Void = {}
        /// Called after each death; false prevents a restart. The exit code is nil if a signal ended it, or it could
        /// not be started.
        var startsAgain: @Sendable (_ exitCode: Int32?) -> Bool = { _ in true }
    }

    private struct State {
        var pid: pid_t = 0
        var isStopping = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let behaviour: Behaviour
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// Ends a delay before the next start.
    private let stopSignal = DispatchSemaphore(value: 0)

    init(_ behaviour: Behaviour, report: @escaping @Sendable (String) -> Void) {
        self.behaviour = behaviour
        self.report = report
        Thread.detachNewThread { [self] in keepAlive() }
    }

    /// The running child; nil between two runs.
    var pid: pid_t? { state.withLock { $0.pid == 0 ? nil : $0.pid } }

    /// Kills the running child (SIGKILL); it is restarted.
    func kill() {
        state.withLock { if $0.pid != 0 { _ = Glibc.kill($0.pid, SIGKILL) } }
    }

    /// Ends the child (SIGTERM, unless `isAsked` states that it was asked in another way), kills it after `grace`
    /// (SIGKILL) and returns when it has ended, or two seconds later. It is not restarted.
    func stop(grace: Duration = .seconds(5), isAsked: Bool = false) async {
        signalToStop(isAsked ? 0 : SIGTERM)
        let insistence = Task {
            try await Task.sleep(for: grace)
            report("The \(behaviour.name) did not stop on request; killed.")
            signalToStop(SIGKILL)
            try await Task.sleep(for: .seconds(2))
            resumeWaiters()
        }
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock {
                if !$0.hasEnded { $0.waiters.append(continuation) }
                return $0.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        insistence.cancel()
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func signalToStop(_ signal: Int32) {
        state.withLock {
            $0.isStopping = true
            // Under the lock with which the number is released, so it is still this child's.
            if $0.pid != 0 { _ = Glibc.kill($0.pid, signal) }
        }
        stopSignal.signal()
    }

    private func keepAlive() {
        var policy = behaviour.policy
        while !isStopping {
            let start = ContinuousClock.now
            var life = RestartPolicy.Life(lasted: .zero, wasReady: false, wasKilled: false)
            let event: String
            var exitCode: Int32?
            do throws(SupervisorError) {
                let (pid, exit) = try liveOnce(&life)
                exitCode = exit.signalled ? nil : exit.code
                life.lasted = start.duration(to: .now)
                event = "The \(behaviour.name) (process \(pid)) \(Self.words(for: exit))"
            } catch {
                event = "The \(behaviour.name) could not be started: \(error)"
            }
            guard !isStopping, behaviour.startsAgain(exitCode) else { break }
            let delay = policy.delay(after: life)
            report(event + (delay == .zero ? "; restarting it." : "; restarting it in \(delay)."))
            if delay > .zero { _ = stopSignal.wait(timeout: .now() + delay / .seconds(1)) }
        }
        resumeWaiters()
    }

    private func resumeWaiters() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func liveOnce(_ life: inout RestartPolicy.Life) throws(SupervisorError) -> (pid_t, clinux_exit) {
        let pid = try behaviour.launch()
        state.withLock {
            $0.pid = pid
            if $0.isStopping { _ = Glibc.kill(pid, SIGTERM) }  // stopped during its start
        }
        var exit = clinux_exit()
        let failure = clinux_wait_for_exit(pid, &exit)
        precondition(failure == 0, "waiting for child \(pid): errno \(failure)")
        behaviour.ended()
        life.wasReady = behaviour.isReady()
        life.wasKilled = exit.signalled && exit.code == SIGKILL
        state.withLock {
            $0.pid = 0
            _ = clinux_reap(pid)
        }
        return (pid, exit)
    }

    private static func words(for exit: clinux_exit) -> String {
        guard !exit.signalled else { return "was killed by signal \(exit.code)" }
        return exit.code == 127 ? "could not run (code 127)" : "ended with code \(exit.code)"
    }
}
