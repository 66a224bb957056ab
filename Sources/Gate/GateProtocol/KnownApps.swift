/// The apps of the list as a file: the daemon writes it after each change, and the gate guards them from its start until a
/// daemon has sent its list.
///
/// The messages `hello`, and for each app `beginApp`, `appPath` for each path, and `commitApp`; before each message its
/// length in bytes, little-endian, in four bytes.
public enum KnownApps {
    /// The largest file, in bytes.
    public static let maximumBytes = 16 << 20

    public static func encoded(_ apps: [[(kind: PathKind, path: [UInt8])]]) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ message: DaemonMessage) {
            let message = message.encoded()
            withUnsafeBytes(of: UInt32(message.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes += message
        }
        append(.hello(version: GateProtocol.version))
        for (token, paths) in zip(1..., apps) {
            append(.beginApp(AppToken(token)))
            for (kind, path) in paths { append(.appPath(AppToken(token), kind, path: path)) }
            append(.commitApp(AppToken(token), guarded: true, sequence: 0))
        }
        return bytes
    }

    /// - Returns: what follows the `hello`.
    /// - Throws: if it has another version, is truncated, or has bytes that are no message.
    public static func decoded(_ bytes: [UInt8]) throws(GateProtocolError) -> [DaemonMessage] {
        var reader = MessageReader(bytes)
        var messages: [DaemonMessage] = []
        while !reader.isAtEnd {
            let length: UInt32 = try reader.read()
            messages.append(try DaemonMessage(decoding: try reader.read(count: Int(length))))
        }
        guard case .hello(let version)? = messages.first else { throw .truncated }
        guard version == GateProtocol.version else { throw .version(version) }
        return Array(messages.dropFirst())
    }
}
