import Glibc

/// The processes that draw the desktop. What runs the same program for the same user must never wait: a compositor
/// that starts an app waits for the app's execve, and could not draw the question.
///
/// Anybody may register processes, so nothing is held open for them and their number is bounded: descriptors that a
/// user could use up would be missing where an app is marked.
struct DesktopProcesses {
    private struct Desktop {
        var process: Int32
        /// Clock ticks after boot; tells the process from a later one of the same number.
        var start: UInt64
        var program: FileIdentity
    }

    /// Of one user; the newest replaces the one that was registered longest ago.
    static let maximumPerUser = 64
    /// A user beyond them is refused until nothing registered by one of the others runs any more.
    static let maximumUsers = 256

    /// Oldest registration first.
    private var desktops: [UInt32: [Desktop]] = [:]

    var count: Int { desktops.values.reduce(0) { $0 + $1.count } }

    /// Registers a process, or has it count as newly registered. One that has ended is passed over.
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

    /// Whether the process runs, at this moment, a program that draws the desktop of this user. A child that has not
    /// yet become the launched app still runs its parent's.
    func include(_ process: Int32, user: UInt32) -> Bool {
        guard let own = desktops[user], let program = ProcessFacts.executable(process) else { return false }
        return own.contains { $0.program == program && Self.isRunning($0) }
    }

    private static func isRunning(_ desktop: Desktop) -> Bool {
        guard let status = ProcessFacts.status(desktop.process) else { return false }
        return status.start == desktop.start && status.state != UInt8(ascii: "Z")
    }
}
