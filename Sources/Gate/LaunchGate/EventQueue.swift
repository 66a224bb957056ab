/// Events that were read from the kernel and not handled yet. Users are handled round robin, so that one user's burst
/// does not delay the launches of others.
struct EventQueue {
    private struct Own {
        var events: [PermissionEvent] = []
        var next = 0
    }

    /// For one user; further events are denied without being handled. Each uses two descriptors.
    static let maximumPerUser = 512
    static let maximumOfAll = 1024

    private var users: [UInt32: Own] = [:]
    /// The order in which users are handled.
    private var userOrder: [UInt32] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= Self.maximumOfAll }

    /// - Returns: false if the user has too many queued events.
    mutating func append(_ event: PermissionEvent, of user: UInt32) -> Bool {
        var own = users[user] ?? Own()
        guard own.events.count - own.next < Self.maximumPerUser else { return false }
        if users[user] == nil { userOrder.append(user) }
        own.events.append(event)
        users[user] = own
        count += 1
        return true
    }

    mutating func popFirst() -> PermissionEvent? {
        guard !userOrder.isEmpty else { return nil }
        let user = userOrder.removeFirst()
        guard let own = users[user] else { return nil }
        let event = own.events[own.next]
        count -= 1
        if own.next + 1 == own.events.count {
            users[user] = nil
        } else {
            users[user]!.next += 1
            userOrder.append(user)
        }
        return event
    }
}
