import Glibc

public struct SupervisorConfiguration: Sendable {
    public var stateDirectory: StateDirectory
    public var executables: Executables
    /// Run without root in the weak mode, without asking for more rights.
    public var isUserMode: Bool
    public var isWithoutHub: Bool
    /// The hub's listening address, "HOST:PORT"; on loopback by default.
    public var hubListen: String?
    /// Called with one line for each event, on any thread; writes to standard error by default.
    public var report: @Sendable (String) -> Void

    public init(
        stateDirectory: StateDirectory, executables: Executables, isUserMode: Bool = false, isWithoutHub: Bool = false,
        hubListen: String? = nil,
        report: @escaping @Sendable (String) -> Void = standardErrorReport
    ) {
        self.stateDirectory = stateDirectory
        self.executables = executables
        self.isUserMode = isUserMode
        self.isWithoutHub = isWithoutHub
        self.hubListen = hubListen
        self.report = report
    }
}

/// Writes one line to standard error in a single call, so that lines of several threads don't mix.
@Sendable public func standardErrorReport(_ line: String) {
    let bytes = Array(("applocker: " + line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)  // a closed terminal must not end the supervisor
}

/// How launches are enforced in this run.
public enum Enforcement: Sendable, Equatable {
    /// The kernel holds each launch before its first instruction.
    case held
    /// The weak mode, and why: one sentence.
    case weak(reason: String)
}
