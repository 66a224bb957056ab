import CLinux
import Glibc

/// The command line of `applocker-gate`.
public struct GateConfiguration: Equatable, Sendable {
    /// The path of the gate's socket: absolute, at most 107 bytes.
    public var socket: [UInt8]
    /// The user id of the daemon.
    public var daemonUser: UInt32
    /// The program that the daemon must run; nil accepts any.
    public var daemonExecutable: [UInt8]?
    /// The file with the apps of the last list (`KnownApps`). With nil nothing is guarded until a daemon has sent its
    /// list.
    public var knownApps: [UInt8]?
    /// The pinned map of `applocker-overlay-guard`. It need not exist.
    public var overlayGuard: [UInt8]?
    /// Watch processes even if the kernel could hold launches.
    public var weak = false
    /// Run without a duplicate of the fanotify descriptor in another process.
    public var withoutDescriptorStore = false

    public static let usage = """
        usage: applocker-gate --socket PATH (--daemon-uid UID | --daemon-user-of PATH) [--daemon-executable PATH]
                              [--known-apps PATH] [--overlay-guard PATH] [--weak] [--no-descriptor-store]
        """

    public init(socket: [UInt8], daemonUser: UInt32, daemonExecutable: [UInt8]? = nil) {
        self.socket = socket
        self.daemonUser = daemonUser
        self.daemonExecutable = daemonExecutable
    }

    /// - Parameter arguments: without the program's name.
    /// - Throws: `GateError` with code `usage`.
    public init(arguments: [String]) throws(GateError) {
        var socket: String?
        var daemonUser: UInt32?
        var rest = arguments[...]
        self.init(socket: [], daemonUser: 0)
        while let option = rest.popFirst() {
            switch option {
            case "--socket": socket = try Self.value(of: option, &rest)
            case "--daemon-uid":
                let text = try Self.value(of: option, &rest)
                guard let number = UInt32(text), number != UInt32.max else {
                    throw GateError(.usage, "--daemon-uid takes a user's number, not \"\(text)\"")
                }
                daemonUser = number
            case "--daemon-user-of":
                let path = try Self.value(of: option, &rest)
                daemonUser = try Self.owner(of: path, option)
            case "--daemon-executable": daemonExecutable = try Self.absolutePath(of: option, &rest)
            case "--known-apps": knownApps = try Self.absolutePath(of: option, &rest)
            case "--overlay-guard": overlayGuard = try Self.absolutePath(of: option, &rest)
            case "--weak": weak = true
            case "--no-descriptor-store": withoutDescriptorStore = true
            default: throw GateError(.usage, "Unknown option \"\(option)\"\n" + Self.usage)
            }
        }
        guard let socket, let daemonUser else {
            throw GateError(.usage, "--socket and --daemon-uid or --daemon-user-of are needed\n" + Self.usage)
        }
        self.socket = Array(socket.utf8)
        self.daemonUser = daemonUser
    }

    /// The owner of a directory. Service units name users, and looking up a name would load NSS modules into the gate.
    private static func owner(of path: String, _ option: String) throws(GateError) -> UInt32 {
        var status = stat()
        guard path.utf8.first == UInt8(ascii: "/"), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw GateError(.usage, "\(option) takes the absolute path of an existing directory, not \"\(path)\"")
        }
        return status.st_uid
    }

    private static func absolutePath(
        of option: String, _ rest: inout ArraySlice<String>
    ) throws(GateError) -> [UInt8] {
        let path = try value(of: option, &rest)
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw GateError(.usage, "\(option) takes an absolute path, not \"\(path)\"")
        }
        return Array(path.utf8)
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(GateError) -> String {
        guard let value = rest.popFirst() else { throw GateError(.usage, "\(option) needs a value\n" + usage) }
        return value
    }
}
