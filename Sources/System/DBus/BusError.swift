import CSystemd
import Glibc

/// What went wrong on the bus.
public struct BusError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// There is no bus at the address, or it refused the connection.
        case unreachable
        /// The connection is gone; open a new one.
        case closed
        /// The other side answered with the error `name`.
        case refused
        /// No answer in time.
        case timedOut
        /// What was to be sent, or what was received, is not what D-Bus or the caller allows.
        case invalid
        /// Somebody else owns the name.
        case nameTaken
    }

    public var code: Code
    /// The D-Bus error name, as in "org.freedesktop.DBus.Error.ServiceUnknown"; empty where there is none.
    public var name: String
    /// One sentence.
    public var description: String

    public init(_ code: Code, name: String = "", _ description: String) {
        self.code = code
        self.name = name
        self.description = description
    }

    init(errno number: Int32, _ what: String, _ code: Code) {
        self.init(code, "\(what): \(String(cString: strerror(abs(number)))).")
    }

    /// An error reply.
    init(reply error: UnsafePointer<sd_bus_error>) {
        let name = error.pointee.name.map { String(cString: $0) } ?? ""
        let text = error.pointee.message.map { String(cString: $0) } ?? name
        let code: Code =
            switch name {
            case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
                "System.Error.ETIMEDOUT":
                .timedOut
            case "org.freedesktop.DBus.Error.Disconnected", "System.Error.ENOTCONN", "System.Error.ECONNRESET": .closed
            default: .refused
            }
        self.init(code, name: name, text)
    }

    static let closed = BusError(.closed, "The connection to the message bus is closed.")
}
