import Glibc
import ProcessSpawning

/// How to start a child of the supervisor. It inherits these descriptors and no others.
struct ChildLaunch: Sendable {
    /// Absolute path.
    var executable: String
    var arguments: [String]
    var environment: [String: String]
    /// Three descriptors of this process, which become the child's 0 to 2.
    var standardDescriptors: [Int32]
    /// Named descriptors, which become the child's 3 and up (LISTEN_FDS, LISTEN_FDNAMES and LISTEN_PID of
    /// sd_listen_fds(3)).
    var handedOver: [FanotifyDescriptorStore.Stored] = []
    /// Signal to the child when the thread that starts it ends; 0 for none.
    var parentDeathSignal: Int32 = 0
    /// A group of its own protects the child from the terminal's Ctrl-C: the supervisor decides the order of the
    /// shutdown.
    var hasOwnProcessGroup = true

    /// Starts it and returns its process number at once; its execve may still be in progress. Blocks only for the fork.
    /// - Throws: `SupervisorError.Code.processStart`.
    func start() throws(SupervisorError) -> pid_t {
        var environment = environment
        if !handedOver.isEmpty {
            environment["LISTEN_FDS"] = String(handedOver.count)
            environment["LISTEN_FDNAMES"] = handedOver.map(\.name).joined(separator: ":")
            environment["LISTEN_PID"] = "0000000000"  // the child writes its own number over it
        }
        var request = SpawnRequest(
            executable: executable, arguments: [executable] + arguments,
            environment: environment.map { "\($0.key)=\($0.value)" },
            descriptors: standardDescriptors + handedOver.map(\.descriptor))
        request.group = hasOwnProcessGroup ? .own : .inherited
        request.parentDeathSignal = parentDeathSignal
        do throws(SpawnError) {
            return try request.start()
        } catch {
            throw SupervisorError(.processStart, "Cannot start \(executable).", cause: error.code)
        }
    }
}
