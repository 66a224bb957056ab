public import Observation

/// A question about what would happen, which the work that depends on it awaits.
@MainActor @Observable
public final class Confirmation<Question: Equatable & Sendable> {
    /// Until `answer`; nil otherwise.
    public private(set) var question: Question?

    @ObservationIgnored private var continuation: CheckedContinuation<Bool, Never>?

    /// Shows the question. One at a time.
    func ask(_ question: Question) async -> Bool {
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            self.question = question
        }
    }

    public func answer(_ isConfirmed: Bool) {
        question = nil
        continuation?.resume(returning: isConfirmed)
        continuation = nil
    }
}
