import Glibc

/// How `applocker up` is to run.
public struct SupervisorConfiguration: Sendable {
    public var stateDirectory: StateDirectory
    public var executables: Executables
    /// Run without root in the weak mode, and don't ask for more.
    public var isUserMode: Bool
    /// Start no hub.
    public var isWithoutHub: Bool
    /// Where the hub listens, "HOST:PORT"; on loopback by default.
    public var hubListen: String?
    /// Takes one line for each thing that happens; standard error by default. Called on any thread.
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

/// Writes one line to standard error in one piece, so that lines of several threads don't mix.
@Sendable public func standardErrorReport(_ line: String) {
    let bytes = Array(("applocker: " + line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)  // a closed terminal must not end the supervisor
}

/// How launches are noticed in this run.
public enum Enforcement: Sendable, Equatable {
    /// The kernel holds each launch before its first instruction.
    case held
    /// The weak mode, and why: one sentence.
    case weak(reason: String)
}
