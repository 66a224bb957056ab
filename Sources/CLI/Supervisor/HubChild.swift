import Foundation

/// The hub on this computer, run beside the daemon.
struct HubChild: Sendable {
    /// "HOST:PORT".
    let listen: String
    /// The address for the daemon.
    let address: String
    let executable: String
    let state: String

    /// The default port on loopback; if it is in use, one of the next.
    static let firstPort: UInt16 = 8_440
    private static let portsTried: UInt16 = 20

    /// - Returns: nil, with a line that reports why, if no hub can run.
    init?(_ configuration: SupervisorConfiguration) {
        guard !configuration.isWithoutHub else { return nil }
        guard let executable = configuration.executables.hub else {
            configuration.report(
                "applocker-hub is not installed: phones can be paired only over another hub "
                    + "(applocker hub connect URL).")
            return nil
        }
        if let listen = configuration.hubListen {
            self.listen = listen
        } else {
            let ports = Self.firstPort..<Self.firstPort + Self.portsTried
            guard let port = ports.first(where: Self.isFree) else {
                configuration.report(
                    "No port from \(ports.lowerBound) to \(ports.upperBound - 1) is free for the hub; choose one with "
                        + "--hub-listen. AppLocker runs without a hub.")
                return nil
            }
            listen = "127.0.0.1:\(port)"
        }
        let port = listen.split(separator: ":").last.map(String.init) ?? ""
        let host = listen.dropLast(port.count + 1)
        address = "http://" + (["0.0.0.0", "[::]", "*"].contains(host) ? "127.0.0.1" : String(host)) + ":\(port)"
        self.executable = executable
        state = configuration.stateDirectory.hub
    }

    func start(
        report: @escaping @Sendable (String) -> Void
    ) -> SupervisedProcess {
        let launch = ChildLaunch(
            executable: executable, arguments: ["--state", state, "--listen", listen, "--log", "warning"],
            environment: ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LD_") },
            standardDescriptors: [NullDevice.descriptor, NullDevice.descriptor, STDERR_FILENO],
            parentDeathSignal: SIGTERM)
        return SupervisedProcess(
            .init(
                name: "hub", policy: .daemon, launch: { () throws(SupervisorError) in try launch.start() }),
            report: report)
    }

    /// Whether no process listens on this port of 127.0.0.1.
    private static func isFree(_ port: UInt16) -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return false }
        defer { close(number) }
        var reuse: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
