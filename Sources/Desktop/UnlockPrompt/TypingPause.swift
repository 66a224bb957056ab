/// Refuses input for a moment if somebody was typing when another launch's prompt replaced the one they saw: the rest
/// of a passcode would be an attempt for the second launch.
///
/// A value without a clock; time is a parameter.
struct TypingPause {
    typealias Instant = ContinuousClock.Instant

    /// Without a key for this long, a user has stopped typing.
    static let length: Duration = .seconds(1)

    private var lastKey: Instant?
    private var end: Instant?

    mutating func key(at now: Instant) {
        lastKey = now
        if isOn(at: now) { end = now + Self.length }
    }

    /// The user answered or cancelled, and expects another prompt.
    mutating func finishTyping() { lastKey = nil }

    /// The window shows another prompt from now on.
    ///
    /// - Parameter hasText: the passcode field was not empty.
    mutating func changePrompt(hasText: Bool, at now: Instant) {
        let isTyping = hasText || lastKey.map { now < $0 + Self.length } ?? false
        if isTyping { end = now + Self.length }
    }

    func isOn(at now: Instant) -> Bool { end.map { now < $0 } ?? false }
}
