import Crypto
public import Foundation

/// SHA-256 of content that comes in pieces.
public struct ContentHash: Sendable {
    private var hash = SHA256()

    public init() {}

    public mutating func update(_ bytes: [UInt8]) { hash.update(data: bytes) }

    /// 32 bytes.
    public var finished: Data { Data(hash.finalize()) }
}
