import Foundation
import SealedFormats

/// The test vectors of the folder Vectors, which no one language owns.
enum Vectors {
    static func load<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Vectors")
        return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appendingPathComponent(name)))
    }
}

func bytes(hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
}

func hex(_ secret: SecretBytes) -> String {
    secret.withUnsafeBytes { $0.map { String(format: "%02x", $0) }.joined() }
}

func secret(hex: String) -> SecretBytes { bytes(hex: hex).withUnsafeBytes { SecretBytes(copying: $0) } }
