public import Testing

/// Checks `condition` repeatedly, and records a failure at the caller's line if it isn't true within `timeout`. Returns
/// whether it became true. An error that `condition` throws counts as "not yet"; the last one is reported.
///
/// - Parameter comment: names the condition. Evaluated only on failure, so that it can quote the state at that time.
@discardableResult
public func eventually(
    timeout: Duration = .seconds(60), every pause: Duration = .milliseconds(5),
    _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + timeout
    var lastError: (any Error)?
    while true {
        // Checked once more after the timeout: this task may have been suspended for longer than that.
        let isLast = clock.now >= end || Task.isCancelled
        do {
            if try await condition() { return true }
            lastError = nil
        } catch {
            lastError = error
        }
        if isLast { break }
        try? await Task.sleep(for: pause)
    }
    let reason = lastError.map { ", last error: \($0)" } ?? ""
    Issue.record(
        "\(comment()?.rawValue ?? "condition") did not hold within \(timeout)\(reason)", sourceLocation: sourceLocation)
    return false
}
