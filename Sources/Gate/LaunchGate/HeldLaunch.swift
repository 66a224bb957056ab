import GateProtocol
import Glibc

/// A launch that waits for the daemon's answer.
struct HeldLaunch {
    /// What keeps it from running.
    enum Hold {
        /// The kernel, inside execve.
        case event(PermissionEvent)
        /// A stop signal, after it had started: the weak mode. The first is the process that was asked about.
        case stopped([ProcessHandle])
    }

    let app: GuardedApp
    let process: Int32
    /// Real user id.
    let user: UInt32
    let file: FileIdentity
    /// When it is denied, on the clock of `Timetable`.
    let deadline: UInt64
    var hold: Hold

    /// Lets it go on or ends it.
    func finish(allow: Bool) {
        switch hold {
        case .event(let event): event.answer(allow: allow)
        case .stopped(let processes):
            for process in processes { process.signal(allow ? SIGCONT : SIGKILL) }
        }
    }

    /// The kernel waits; in the weak mode the process runs the app already.
    var isInExecve: Bool {
        switch hold {
        case .event: true
        case .stopped: false
        }
    }

    /// The numbers of the processes that wait.
    var processes: [Int32] {
        switch hold {
        case .event(let event): [event.process]
        case .stopped(let processes): processes.map(\.process)
        }
    }

    /// The process that was asked about.
    var handle: ProcessHandle? {
        switch hold {
        case .event(let event): event.handle
        case .stopped(let processes): processes.first
        }
    }
}

/// The launches that wait, and how many of each user.
struct HeldLaunches {
    private(set) var launches: [LaunchToken: HeldLaunch] = [:]
    private var perUser: [UInt32: UInt32] = [:]
    private var nextToken: LaunchToken = 1
    /// However many users there are: each takes two descriptors.
    static let maximumOfAll = 2048

    mutating func newToken() -> LaunchToken {
        defer { nextToken += 1 }
        return nextToken
    }

    func hasRoom(for user: UInt32, limit: UInt32) -> Bool {
        perUser[user, default: 0] < limit && launches.count < Self.maximumOfAll
    }

    mutating func insert(_ launch: HeldLaunch, as token: LaunchToken) {
        launches[token] = launch
        perUser[launch.user, default: 0] += 1
    }

    mutating func remove(_ token: LaunchToken) -> HeldLaunch? {
        guard let launch = launches.removeValue(forKey: token) else { return nil }
        let left = perUser[launch.user, default: 1] - 1
        perUser[launch.user] = left == 0 ? nil : left
        return launch
    }

    /// Another stopped process that goes the way of the launch.
    mutating func attach(_ process: ProcessHandle, to token: LaunchToken) {
        guard case .stopped(let processes)? = launches[token]?.hold else { return }
        launches[token]!.hold = .stopped(processes + [process])
    }

    var nextDeadline: UInt64? { launches.values.lazy.map(\.deadline).min() }
}
