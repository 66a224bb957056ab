import Crypto
public import Foundation
public import HubAPI

/// What a push of a shared vault says: a record without its content, which may be too long for a push. The signature
/// proves its author all the same. docs/formats.md, "Notices of a shared vault".
public struct RecordNotice: Codable, Equatable, Sendable {
    public var collection: String
    public var id: HubID
    public var vault: HubID
    public var revision: UInt64
    public var epoch: UInt32
    public var author: HubID
    public var blobs: [HubID]
    public var signature: Data
    /// SHA-256 of the sealed bytes.
    public var digest: Data

    /// - Returns: nil for a tombstone.
    public init?(of record: HubRecord) {
        guard let sealed = record.sealed else { return nil }
        collection = record.collection
        id = record.id
        vault = record.vault
        revision = record.revision
        epoch = record.epoch
        author = record.author
        blobs = record.blobs
        signature = record.signature
        digest = Data(SHA256.hash(data: sealed))
    }
}
