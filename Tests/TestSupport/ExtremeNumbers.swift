/// JSON in which one number after the other is replaced by each value that a reader may not expect.
public enum ExtremeNumbers {
    /// The limits of integers and of doubles, the values just beyond them, and a number too large for a double.
    public static let all = [
        "0", "1", "-1", "0.5", "1e-300", "1e308", "-1e308", "1e400", "255", "256", "65536", "2147483647", "2147483648",
        "-2147483648", "4294967295", "4294967296", "9007199254740991", "9007199254740992", "9223372036854775806",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
        "18446744073709551616",
    ]

    /// Empty if the JSON contains no number.
    public static func variants(of json: [UInt8]) -> [[UInt8]] {
        var variants: [[UInt8]] = []
        for place in numbers(in: json) {
            for number in all {
                var variant = json
                variant.replaceSubrange(place, with: Array(number.utf8))
                variants.append(variant)
            }
        }
        return variants
    }

    /// The ranges of numbers, outside of strings.
    private static func numbers(in json: [UInt8]) -> [Range<Int>] {
        let digits = Set("0123456789+-.eE".utf8)
        var found: [Range<Int>] = []
        var (index, isText) = (0, false)
        while index < json.count {
            let byte = json[index]
            let start = index
            index += 1
            if byte == UInt8(ascii: "\"") {
                isText.toggle()
            } else if isText {
                // An escaped quote does not end the string.
                if byte == UInt8(ascii: "\\") { index += 1 }
            } else if byte == UInt8(ascii: "-") || (48...57).contains(byte) {
                while index < json.count, digits.contains(json[index]) { index += 1 }
                found.append(start..<index)
            }
        }
        return found
    }
}
