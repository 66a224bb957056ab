import Crypto

/// The activity log's hash chain: each event names the one before it and is signed by its device, so that an event that
/// was changed, left out or put elsewhere breaks it.
public struct AuditChain: Sendable {
    /// The newest link. Who kept one finds out later whether the log was cut or rewritten before it.
    public struct Head: Hashable, Sendable, LosslessStringConvertible {
        /// 0 where there is no event yet.
        public let number: UInt64
        /// 32 bytes.
        public let hash: [UInt8]

        public init(number: UInt64, hash: [UInt8]) {
            self.number = number
            self.hash = hash
        }

        /// Reads "number:hash"; nil for anything else.
        public init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let number = UInt64(parts[0]), let hash = Hexadecimal.decode(parts[1]),
                hash.count == 32
            else { return nil }
            self.init(number: number, hash: hash)
            // One spelling alone: no sign, no zeros in front.
            guard description == text else { return nil }
        }

        public var description: String { "\(number):\(Hexadecimal.encode(hash))" }
    }

    /// The hashed content of an event.
    public struct Event: Hashable, Sendable {
        /// Seconds since 1970.
        public var time: Double
        public var kind: String
        public var app: String?
        public var user: UInt32?
        public var process: Int32?
        public var path: String?
        public var reason: String?
        public var sentence: String

        public init(
            time: Double, kind: String, app: String?, user: UInt32?, process: Int32?, path: String?, reason: String?,
            sentence: String
        ) {
            self.time = time
            self.kind = kind
            self.app = app
            self.user = user
            self.process = process
            self.path = path
            self.reason = reason
            self.sentence = sentence
        }

        fileprivate var bytes: [UInt8] {
            func optional(_ text: String?) -> [UInt8] { text.map { [1] + Array($0.utf8) } ?? [0] }
            var fields = Fields()
            fields.add(time.bitPattern)
            fields.add(kind)
            fields.add(optional(app))
            fields.add(optional(user.map { String($0) }))
            fields.add(optional(process.map { String($0) }))
            fields.add(optional(path))
            fields.add(optional(reason))
            fields.add(sentence)
            return fields.bytes
        }
    }

    /// What is stored beside an event.
    public struct Link: Hashable, Sendable {
        /// 32 bytes.
        public let hash: [UInt8]
        /// 64 bytes.
        public let signature: [UInt8]

        public init(hash: [UInt8], signature: [UInt8]) {
            self.hash = hash
            self.signature = signature
        }
    }

    /// Where a log begins whose older events were removed: the head before its first event, signed by the device, so that
    /// no other process can have it begin later.
    public struct Beginning: Hashable, Sendable, LosslessStringConvertible {
        public let head: Head
        /// 64 bytes.
        public let signature: [UInt8]

        /// Signs a beginning.
        public init(_ head: Head, signedBy key: DeviceSigningKey) {
            self.head = head
            signature = key.signature(of: Self.bytes(head), purpose: "audit-beginning")
        }

        /// Reads "number:hash:signature"; nil for anything else.
        public init?(_ text: String) {
            guard let cut = text.lastIndex(of: ":"), let head = Head(String(text[..<cut])),
                let signature = Hexadecimal.decode(text[text.index(after: cut)...]), signature.count == 64
            else { return nil }
            self.head = head
            self.signature = signature
            guard description == text else { return nil }
        }

        public var description: String { "\(head):\(Hexadecimal.encode(signature))" }

        /// Whether this device has signed it.
        public func isSigned(by device: DevicePublicKey) -> Bool {
            device.verify(signature, of: Self.bytes(head), purpose: "audit-beginning")
        }

        private static func bytes(_ head: Head) -> [UInt8] {
            var fields = Fields("applocker/1/audit-beginning")
            fields.add(head.number)
            fields.add(head.hash)
            return fields.bytes
        }
    }

    public private(set) var head: Head
    private let device: DevicePublicKey

    /// The chain of a device, from its beginning or from a head that is known.
    public init(of device: DevicePublicKey, from head: Head? = nil) {
        self.device = device
        self.head = head ?? Self.beginning(of: device)
    }

    /// The head before the first event.
    public static func beginning(of device: DevicePublicKey) -> Head {
        var fields = Fields("applocker/1/audit")
        fields.add(device.bytes)
        return Head(number: 0, hash: Array(SHA256.hash(data: fields.bytes)))
    }

    /// Appends an event; its number is the head's afterwards.
    public mutating func append(_ event: Event, signedBy key: DeviceSigningKey) -> Link {
        head = next(event)
        return Link(hash: head.hash, signature: key.signature(of: head.hash, purpose: "audit"))
    }

    /// Follows the chain by one event that was read. False where it does not continue it; the chain then stays as it is.
    public mutating func follow(_ event: Event, number: UInt64, link: Link) -> Bool {
        guard head.number < .max else { return false }
        let next = next(event)
        guard number == next.number, link.hash == next.hash,
            device.verify(link.signature, of: next.hash, purpose: "audit")
        else { return false }
        head = next
        return true
    }

    private func next(_ event: Event) -> Head {
        var fields = Fields("applocker/1/audit-link")
        fields.add(head.hash)
        fields.add(head.number + 1)
        fields.add(event.bytes)
        return Head(number: head.number + 1, hash: Array(SHA256.hash(data: fields.bytes)))
    }
}
