import Glibc

/// The absolute paths of the project's executables.
public struct Executables: Sendable, Equatable {
    public var applocker: String
    public var gate: String
    public var daemon: String
    /// Nil if it is not installed.
    public var hub: String?

    /// Uses the directory of the running executable, which contains all of them in a build and in the package.
    ///
    /// Throws `SupervisorError.Code.executableMissing`, naming the missing one.
    public static func besideThisOne() throws(SupervisorError) -> Executables {
        guard let resolved = realpath("/proc/self/exe", nil) else {
            throw SupervisorError(.executableMissing, "Cannot find this program's own file.", cause: errno)
        }
        defer { free(resolved) }
        let own = String(cString: resolved)
        return try Executables(directory: String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]))
    }

    /// Throws `SupervisorError.Code.executableMissing`, naming the missing one.
    public init(directory: String) throws(SupervisorError) {
        applocker = try Self.find("applocker", in: directory)
        gate = try Self.find("applocker-gate", in: directory)
        daemon = try Self.find("applockerd", in: directory)
        hub = try? Self.find("applocker-hub", in: directory)
    }

    init(applocker: String, gate: String, daemon: String, hub: String? = nil) {
        self.hub = hub
        self.applocker = applocker
        self.gate = gate
        self.daemon = daemon
    }

    private static func find(_ name: String, in directory: String) throws(SupervisorError) -> String {
        let path = directory + "/" + name
        guard access(path, X_OK) == 0 else {
            throw SupervisorError(
                .executableMissing, "The program \(name) is missing in \(directory); build or install AppLocker again.",
                cause: errno)
        }
        return path
    }
}
