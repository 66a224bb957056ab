import Glibc

/// The processes that draw the desktop. A process that runs the same program for the same user must never be held: a
/// compositor waits for the execve of the app that it starts, and could not draw the prompt meanwhile.
///
/// Any user may register processes, so their number is bounded and no descriptors are kept for them.
struct DesktopProcesses {
    private struct Desktop {
        var process: Int32
        /// Clock ticks after boot; distinguishes the process from a later one with the same pid.
        var start: UInt64
        var program: FileIdentity
    }

    /// For one user; beyond it a new process replaces the one with the oldest registration.
    static let maximumPerUser = 64
    /// Further users are refused until all registered processes of another user have ended.
    static let maximumUsers = 256

    /// Oldest registration first.
    private var desktops: [UInt32: [Desktop]] = [:]

    var count: Int { desktops.values.reduce(0) { $0 + $1.count } }

    /// Registers a process, or renews its registration. A process that has ended is ignored.
    mutating func add(_ process: Int32) {
        guard let start = ProcessFacts.status(process)?.start, let program = ProcessFacts.executable(process),
            let user = ProcessFacts.users(process)?.real, ProcessFacts.status(process)?.start == start
        else { return }
        if desktops[user] == nil, desktops.count >= Self.maximumUsers {
            removeEnded()
            guard desktops.count < Self.maximumUsers else { return }
        }
        var own = desktops[user, default: []]
        own.removeAll { $0.process == process }
        if own.count == Self.maximumPerUser { own.removeFirst() }
        own.append(Desktop(process: process, start: start, program: program))
        desktops[user] = own
    }

    mutating func removeAll() { desktops = [:] }

    private mutating func removeEnded() {
        for user in desktops.keys { desktops[user]!.removeAll { !Self.isRunning($0) } }
        desktops = desktops.filter { !$0.value.isEmpty }
    }

    /// Whether the process currently runs a program that draws this user's desktop. A forked child runs its parent's
    /// program until its execve.
    func include(_ process: Int32, user: UInt32) -> Bool {
        guard let own = desktops[user], let program = ProcessFacts.executable(process) else { return false }
        return own.contains { $0.program == program && Self.isRunning($0) }
    }

    private static func isRunning(_ desktop: Desktop) -> Bool {
        guard let status = ProcessFacts.status(desktop.process) else { return false }
        return status.start == desktop.start && status.state != UInt8(ascii: "Z")
    }
}
