import Synchronization

/// Whose turn it is: a camera serves one at a time.
enum Turn {
    private static let isTaken = Mutex(false)

    /// False where somebody has it.
    static func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    static func giveBack() { isTaken.withLock { $0 = false } }
}
