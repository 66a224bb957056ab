import Foundation
import SealedFormats
import TestSupport

func hex(_ secret: SecretBytes) -> String {
    secret.withUnsafeBytes { $0.map { String(format: "%02x", $0) }.joined() }
}

func secret(hex: String) -> SecretBytes { bytes(hex: hex).withUnsafeBytes { SecretBytes(copying: $0) } }

/// A file of vectors made by make_sealed_vectors.py.
struct SealedVectors<Opening: Decodable, Refusal: Decodable>: Decodable {
    let opens: [Opening]
    let refused: [Refusal]
}

/// The code with which the body is refused; nil if it is not refused.
func refusal(_ body: () throws -> some Any) throws -> SealedFormatsError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as SealedFormatsError {
        return error.code
    }
}

func secret(_ bytes: some Collection<UInt8>) -> SecretBytes {
    var bytes = Array(bytes)
    return SecretBytes(wiping: &bytes)
}

func id(_ text: String) -> ItemID { ItemID(text)! }

/// A record's name in the notation of the vectors.
struct RecordFields: Decodable {
    let vault: ItemID
    let collection: String
    let id: ItemID
    let revision: UInt64

    var name: RecordName {
        RecordName(vault: vault, collection: RecordCollection(rawValue: collection)!, id: id, revision: revision)
    }
}

extension SealedFormatsError.Code: Decodable {}
