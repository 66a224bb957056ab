import GateProtocol
import Glibc

/// A launch that is waiting for the daemon's answer.
struct PendingLaunch {
    /// How the process is held.
    enum Hold {
        /// By the kernel, in execve.
        case event(PermissionEvent)
        /// By SIGSTOP after it started: the weak mode. The first process is the one that the prompt is about.
        case stopped([ProcessHandle])
    }

    let app: GuardedApp
    let process: Int32
    /// Real user id.
    let user: UInt32
    let file: FileIdentity
    /// The time at which it is denied, on the clock of `Timetable`.
    let deadline: UInt64
    var hold: Hold

    /// Allows or denies it.
    func finish(allow: Bool) {
        switch hold {
        case .event(let event): event.answer(allow: allow)
        case .stopped(let processes):
            for process in processes { process.signal(allow ? SIGCONT : SIGKILL) }
        }
    }

    /// The pids of the held processes.
    var processes: [Int32] {
        switch hold {
        case .event(let event): [event.process]
        case .stopped(let processes): processes.map(\.process)
        }
    }
}

/// All held launches, and their number for each user.
struct PendingLaunches {
    private(set) var launches: [LaunchToken: PendingLaunch] = [:]
    private var perUser: [UInt32: UInt32] = [:]
    private var nextToken: LaunchToken = 1
    /// For all users together; each uses two descriptors.
    static let maximumOfAll = 2048

    mutating func newToken() -> LaunchToken {
        defer { nextToken += 1 }
        return nextToken
    }

    func hasRoom(for user: UInt32, limit: UInt32) -> Bool {
        perUser[user, default: 0] < limit && launches.count < Self.maximumOfAll
    }

    mutating func insert(_ launch: PendingLaunch, as token: LaunchToken) {
        launches[token] = launch
        perUser[launch.user, default: 0] += 1
    }

    mutating func remove(_ token: LaunchToken) -> PendingLaunch? {
        guard let launch = launches.removeValue(forKey: token) else { return nil }
        let left = perUser[launch.user, default: 1] - 1
        perUser[launch.user] = left == 0 ? nil : left
        return launch
    }

    /// Adds another stopped process, which receives the launch's answer.
    mutating func attach(_ process: ProcessHandle, to token: LaunchToken) {
        guard case .stopped(let processes)? = launches[token]?.hold else { return }
        launches[token]!.hold = .stopped(processes + [process])
    }

    var nextDeadline: UInt64? { launches.values.lazy.map(\.deadline).min() }
}
