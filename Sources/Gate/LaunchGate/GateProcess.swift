import CLinux
import Glibc
import ProcessHardening

/// Settings and privileges of the gate's own process, applied before anything else.
enum GateProcess {
    /// The limit of descriptors. It is fixed, so that a restarted gate knows every number under which its predecessor
    /// can have left a launch unanswered.
    static let descriptorLimit: UInt64 = 8192

    static func prepare() throws(GateError) {
        var limit = rlimit(rlim_cur: rlim_t(descriptorLimit), rlim_max: rlim_t(descriptorLimit))
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            // A user without root can't raise the hard limit. Then the weak mode is used, in which no launch is held.
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
                throw GateError(.kernel, "getrlimit failed", cause: errno)
            }
            limit.rlim_cur = min(limit.rlim_max, rlim_t(descriptorLimit))
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        do {
            try ProcessHardening.apply()
        } catch {
            throw GateError(.traced, error.sentence)
        }
        _ = clinux_forbid_new_privileges()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGHUP, SIG_IGN)
        // SIG_IGN: the kernel reaps children; see `ExecRequestReader`.
        signal(SIGCHLD, SIG_IGN)
        avoidOutOfMemoryKiller()
        // Scheduled before a user's processes on a busy computer. Requires root.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -10)
    }

    /// Requires root; otherwise the out-of-memory killer treats the gate like any process.
    private static func avoidOutOfMemoryKiller() {
        let file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, "-1000", 5)
        close(file)
    }

    /// The gate's executable and every library that it has loaded.
    static func ownFiles() -> Set<FileIdentity> {
        var files: Set<FileIdentity> = []
        if let program = ProcessFacts.executable(getpid()) { files.insert(program) }
        for line in (try? ProcessFacts.lines(of: "/proc/self/maps")) ?? [] {
            guard let start = line.firstIndex(of: UInt8(ascii: "/")),
                let file = FileIdentity(following: Array(line[start...]))
            else { continue }
            files.insert(file)
        }
        return files
    }
}
