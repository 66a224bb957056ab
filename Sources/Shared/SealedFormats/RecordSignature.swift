import Crypto

/// What an author signs of a record that leaves the device: its name, its place in time, its blobs and its sealed bytes, so
/// that a hub can neither change, move nor delete it.
public enum RecordSignature {
    /// 64 bytes.
    /// - Parameters:
    ///   - sealed: nil for a tombstone.
    ///   - blobs: that belong to the record, in their order.
    public static func sign(
        _ name: RecordName, epoch: UInt32, blobs: [ItemID], sealed: [UInt8]?, with key: DeviceSigningKey
    ) -> [UInt8] {
        let message = message(name, epoch: epoch, author: key.publicKey.id, blobs: blobs, sealed: sealed)
        return key.signature(of: message, purpose: "record")
    }

    /// Whether the author signed exactly this.
    public static func verify(
        _ signature: [UInt8], _ name: RecordName, epoch: UInt32, blobs: [ItemID], sealed: [UInt8]?,
        author: DevicePublicKey
    ) -> Bool {
        author.verify(
            signature, of: message(name, epoch: epoch, author: author.id, blobs: blobs, sealed: sealed),
            purpose: "record")
    }

    private static func message(
        _ name: RecordName, epoch: UInt32, author: ItemID, blobs: [ItemID], sealed: [UInt8]?
    ) -> [UInt8] {
        var fields = Fields()
        fields.add(name.vault.bytes)
        fields.add(name.collection.rawValue)
        fields.add(name.id.bytes)
        fields.add(name.revision)
        fields.add(epoch)
        fields.add(author.bytes)
        fields.add(blobs.flatMap(\.bytes))
        fields.add(sealed.map { Array(SHA256.hash(data: $0)) } ?? [])
        return fields.bytes
    }
}
