import Foundation

/// The test vectors of the folder Vectors, which all languages share.
public enum Vectors {
    public static func load<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Vectors")
        return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appendingPathComponent(name)))
    }
}

/// Bytes in the notation of the vectors: two hexadecimal digits each.
public func bytes(hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
}
