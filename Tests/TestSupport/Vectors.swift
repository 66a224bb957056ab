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
    // By bytes: an index into a string's characters is found from its start each time.
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(String(decoding: digits[index...].prefix(2), as: UTF8.self), radix: 16)
    }
}
