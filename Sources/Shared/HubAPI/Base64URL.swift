public import Foundation

/// Base64 with the alphabet of RFC 4648 section 5, without padding, as tokens, pairing links and Web Push use it.
public enum Base64URL {
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Nil for anything but the one way to write these bytes: other alphabets, padding, white space, stray bits.
    public static func decode(_ text: String) -> Data? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
        else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        guard let bytes = Data(base64Encoded: standard), encode(bytes) == text else { return nil }
        return bytes
    }
}
