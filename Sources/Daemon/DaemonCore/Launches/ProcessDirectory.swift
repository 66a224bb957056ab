/// The system's users and processes.
public protocol ProcessDirectory: Sendable {
    /// For display only; no decision uses it.
    func userName(_ user: UInt32) -> String?
    /// For display only; no decision uses it.
    func processName(_ process: Int32) -> String?
    /// The real user of a running process.
    func owner(of process: Int32) -> UInt32?
    /// The user who logged in and started the process, possibly as another user; nil if the kernel has none.
    func loginUser(of process: Int32) -> UInt32?
}
