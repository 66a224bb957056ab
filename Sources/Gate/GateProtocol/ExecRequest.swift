extension GateProtocol {
    /// What a process that is held inside its execve(2) asked for: enough to start the same again. Bytes as the kernel
    /// has them, without a final NUL: neither paths, arguments nor environment need be UTF-8.
    public struct ExecRequest: Equatable, Sendable {
        /// The path as it was given to execve; relative to `directory` where it does not begin with a slash.
        public var path: [UInt8]
        public var directory: [UInt8]
        public var arguments: [[UInt8]]
        public var environment: [[UInt8]]

        public init(path: [UInt8], directory: [UInt8], arguments: [[UInt8]], environment: [[UInt8]]) {
            self.path = path
            self.directory = directory
            self.arguments = arguments
            self.environment = environment
        }

        /// Path, NUL, directory, NUL, number of arguments in decimal, NUL, each argument and NUL, each environment entry
        /// and NUL.
        public var encoded: [UInt8] {
            var bytes = path + [0] + directory + [0] + String(arguments.count).utf8 + [0]
            for text in arguments + environment { bytes += text + [0] }
            return bytes
        }

        /// Nil where the bytes are not of the form that `encoded` has.
        public init?(decoding bytes: [UInt8]) {
            var fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
            guard fields.count >= 4, fields.removeLast().isEmpty,
                let count = Int(String(decoding: fields[2], as: UTF8.self)), count >= 0, count <= fields.count - 3
            else { return nil }
            self.init(
                path: Array(fields[0]), directory: Array(fields[1]),
                arguments: fields[3..<(3 + count)].map(Array.init), environment: fields[(3 + count)...].map(Array.init))
        }

        /// The messages that carry an encoded request, none larger than the protocol allows.
        public static func messages(for launch: LaunchToken, carrying bytes: [UInt8]) -> [GateMessage] {
            // Kind, launch and flag come before the part.
            let room = GateProtocol.maximumMessageBytes - 10
            var messages: [GateMessage] = []
            var start = 0
            repeat {
                let end = min(start + room, bytes.count)
                messages.append(.execRequest(launch, isLast: end == bytes.count, part: Array(bytes[start..<end])))
                start = end
            } while start < bytes.count
            return messages
        }
    }

    /// Joins the parts of exec requests, which may arrive interleaved with those of other launches.
    public struct ExecRequestAssembler: Sendable {
        private var incomplete: [LaunchToken: [UInt8]] = [:]

        public init() {}

        /// - Returns: with the last part, the request's bytes; before it nil.
        /// - Throws: `execRequestTooLong` where the parts exceed `GateProtocol.maximumExecRequestBytes`.
        public mutating func append(
            _ part: [UInt8], of launch: LaunchToken, isLast: Bool
        ) throws(GateProtocolError) -> [UInt8]? {
            let bytes = (incomplete.removeValue(forKey: launch) ?? []) + part
            guard bytes.count <= GateProtocol.maximumExecRequestBytes else { throw .execRequestTooLong }
            if isLast { return bytes }
            incomplete[launch] = bytes
            return nil
        }
    }
}
