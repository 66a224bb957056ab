/// What was denied lately, so that one refusal is reported once: a shell whose execve was denied opens the file next,
/// and a program that may not read a file often tries again.
struct DeniedLaunches {
    struct Attempt: Hashable {
        var process: Int32
        var start: UInt64
        var file: FileIdentity
    }

    private var known: Set<Attempt> = []
    private var order: [Attempt] = []
    private var oldest = 0
    private let capacity: Int

    init(capacity: Int = 512) { self.capacity = capacity }

    func contains(_ attempt: Attempt) -> Bool { known.contains(attempt) }

    /// Returns true where this attempt is new. The oldest is forgotten when there are too many.
    mutating func note(_ attempt: Attempt) -> Bool {
        guard known.insert(attempt).inserted else { return false }
        if order.count < capacity {
            order.append(attempt)
        } else {
            known.remove(order[oldest])
            order[oldest] = attempt
            oldest = (oldest + 1) % capacity
        }
        return true
    }
}
