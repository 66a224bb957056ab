import CLinux
import Foundation

/// The arguments of `applocker hold-gate`, the hidden command that `applocker up` starts through sudo.
public struct HoldGateCommand: Sendable {
    public var gate: String
    public var socket: String
    public var daemonUser: UInt32
    public var daemonExecutable: String

    /// The command's name and options, in the order of `arguments`.
    public static let name = "hold-gate"

    public init(gate: String, socket: String, daemonUser: UInt32, daemonExecutable: String) {
        self.gate = gate
        self.socket = socket
        self.daemonUser = daemonUser
        self.daemonExecutable = daemonExecutable
    }

    /// The arguments after the name of the program.
    var arguments: [String] {
        [
            Self.name, "--gate", gate, "--socket", socket, "--daemon-uid", String(daemonUser), "--daemon-executable",
            daemonExecutable,
        ]
    }

    /// The line that it prints when launches are held.
    static let holdingWord = "holding"
    /// The line on its standard input that ends it.
    static let endWord = "end"

    /// Holds the gate until standard input has the line `end`, or until SIGTERM. Standard input that ends without that
    /// line means that `applocker up` was killed: the gate then continues to deny, and the next `applocker up` replaces
    /// this process.
    ///
    /// Throws `SupervisorError`: without root, or when the kernel refuses to hold launches.
    public func run(report: @escaping @Sendable (String) -> Void = standardErrorReport) async throws(SupervisorError) {
        guard geteuid() == 0 else {
            throw SupervisorError(.notPermitted, "Holding launches needs root; start it through `applocker up`.")
        }
        let refusal = clinux_try_launch_hold(gate)
        guard refusal == 0 else {
            throw SupervisorError(.notPermitted, "The kernel refuses to hold launches here.", cause: refusal)
        }
        let (orders, sender) = AsyncStream<Order>.makeStream()
        let signals = await TerminationSignals(ends: [SIGTERM], ignores: [SIGINT, SIGHUP, SIGPIPE]) {
            sender.yield(.end)
        }
        defer { signals.cancel() }
        replaceEarlierHolders(report: report)
        let directory = try makeNotifySocketDirectory()
        let holder = try GateHolder(
            .init(
                gate: gate, socket: socket, daemonUser: daemonUser, daemonExecutable: daemonExecutable,
                notifySocket: directory + "/notify.sock"),
            report: report)
        let announcement = Task {
            var isReady = await holder.waitUntilReady(timeout: .seconds(10))
            if !isReady, !Task.isCancelled { report("The gate has not reported readiness yet.") }
            // `applocker up` waits for the word as long as this process runs.
            while !isReady, !Task.isCancelled { isReady = await holder.waitUntilReady(timeout: .seconds(60)) }
            guard isReady else { return }
            print(Self.holdingWord)
            fflush(nil)
        }
        defer { announcement.cancel() }
        Thread.detachNewThread {
            while let line = readLine() {
                if line == Self.endWord {
                    _ = sender.yield(.end)
                    return
                }
            }
            sender.yield(.abandoned)
        }
        for await order in orders {
            if order == .end { break }
            report("`applocker up` was killed: launches of locked apps are denied until it runs again.")
        }
        await holder.stop()
        rmdir(directory)  // nothing is left in it
    }

    private enum Order {
        case end
        case abandoned
    }

    /// A holder that an earlier `applocker up` left would start its gate again and again.
    private func replaceEarlierHolders(report: (String) -> Void) {
        let earlier = RunningProcess.ofRoot(
            program: "applocker", arguments: [Self.name, "--gate", gate, "--socket", socket])
        for holder in earlier {
            _ = try? holder.withHandle { (handle) throws(SupervisorError) in
                holder.kill(through: handle)
                report("Replaced the gate holder of an earlier run (process \(holder.pid)).")
            }
        }
    }

    /// A directory that only root can change, one for each state directory: with another socket in its place, a process
    /// would receive the group and could let launches continue.
    private func makeNotifySocketDirectory() throws(SupervisorError) -> String {
        var status = stat()
        let state = String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)])
        guard stat(state, &status) == 0 else {
            throw SupervisorError(.stateDirectory, "Cannot find the state directory \(state).", cause: errno)
        }
        let parent = "/run/applocker"
        let own = "\(parent)/\(status.st_dev)-\(status.st_ino)"
        for (path, mode) in [(parent, mode_t(0o755)), (own, 0o700)] {
            guard mkdir(path, mode) == 0 || errno == EEXIST, lstat(path, &status) == 0 else {
                throw SupervisorError(.stateDirectory, "Cannot create the directory \(path).", cause: errno)
            }
            guard status.st_uid == 0, status.st_mode & (S_IFMT | 0o022) == S_IFDIR else {
                throw SupervisorError(.stateDirectory, "\(path) is not a private directory of root; remove it.")
            }
        }
        return own
    }
}
