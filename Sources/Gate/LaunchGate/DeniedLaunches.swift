/// Recently denied attempts, so that a refusal is reported once: after a denied execve a shell opens the file, and a
/// program that may not read a file often retries.
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

    /// - Returns: true if the attempt is new. Beyond the limit the oldest attempt is removed.
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
