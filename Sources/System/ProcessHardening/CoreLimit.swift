import Glibc

/// The limit on core files: none for this process, the session's own for what it starts.
public struct CoreLimit: Sendable {
    private let session: rlimit

    init() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        session = limit
        set(0)
    }

    /// Runs `start` under the session's limit. A core file of this process is still ruled out meanwhile: it is not
    /// dumpable.
    public func lifted<Result>(_ start: () throws -> Result) rethrows -> Result {
        set(session.rlim_cur)
        defer { set(0) }
        return try start()
    }

    private func set(_ soft: rlim_t) {
        var limit = rlimit(rlim_cur: soft, rlim_max: session.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
