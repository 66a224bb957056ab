import CLinux
import Glibc

/// What a child of the supervisor is started as. It gets these descriptors and no others.
struct ChildLaunch: Sendable {
    /// Absolute path.
    var executable: String
    var arguments: [String]
    var environment: [String: String]
    /// Descriptors of this process in the order of the child's numbers, from 0.
    var standardDescriptors: [Int32]
    /// Named descriptors that the child finds from 3 up (LISTEN_FDS, LISTEN_FDNAMES and LISTEN_PID of
    /// sd_listen_fds(3)).
    var handedOver: [FanotifyDescriptorStore.Stored] = []
    /// Signal to the child when the thread that starts it ends; 0 for none.
    var parentDeathSignal: Int32 = 0
    /// A group of its own keeps the terminal's Ctrl-C from the child: the supervisor decides the order of the end.
    var hasOwnProcessGroup = true

    /// Starts it and returns its process number at once; its execve may still be under way. Blocks for one fork only.
    /// Throws `SupervisorError.Code.processStart`.
    func start() throws(SupervisorError) -> pid_t {
        var environment = environment
        if !handedOver.isEmpty {
            environment["LISTEN_FDS"] = String(handedOver.count)
            environment["LISTEN_FDNAMES"] = handedOver.map(\.name).joined(separator: ":")
            environment["LISTEN_PID"] = "0000000000"  // the child writes its own number over it
        }
        let sources = standardDescriptors + handedOver.map(\.descriptor)
        let targets = (0..<Int32(standardDescriptors.count)) + (0..<Int32(handedOver.count)).map { 3 + $0 }
        let argv = ([executable] + arguments).map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for copy in argv + envp { free(copy) } }

        var failure: Int32 = 0
        let pid = executable.withCString { path in
            argv.withUnsafeBufferPointer { argv in
                envp.withUnsafeBufferPointer { envp in
                    sources.withUnsafeBufferPointer { sources in
                        Array(targets).withUnsafeBufferPointer { targets in
                            var request = clinux_spawn_request()
                            request.path = path
                            request.argv = argv.baseAddress
                            request.envp = envp.baseAddress
                            request.descriptors = sources.baseAddress
                            request.targets = targets.baseAddress
                            request.descriptor_count = sources.count
                            request.parent_death_signal = parentDeathSignal
                            request.new_process_group = hasOwnProcessGroup
                            request.error_descriptor = -1
                            return clinux_spawn(&request, &failure)
                        }
                    }
                }
            }
        }
        guard pid > 0 else { throw SupervisorError(.processStart, "Cannot start \(executable).", cause: failure) }
        return pid
    }
}
