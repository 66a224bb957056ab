import Foundation

/// Runs work that blocks (a terminal, a pipe, a child process) on a thread of its own, never on Swift's shared ones.
enum OwnThread {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try work() })
            }
        }
    }
}
