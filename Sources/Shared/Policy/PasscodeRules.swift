/// Rules for a new passcode, and warnings about passcodes that are easy to guess.
public enum PasscodeRules {
    public enum Verdict: Hashable, Sendable {
        /// Refused: fewer than `minimumLength` characters.
        case tooShort
        /// Refused: not valid UTF-8 or with a zero byte, so that another keyboard or phone could never type it.
        case notText
        /// Accepted with a word: why it is easily guessed, as one sentence.
        case weak(String)
        case fine
    }

    /// In characters as a person counts them (Unicode's grapheme clusters).
    public static let minimumLength = 4

    public static func check(_ passcode: String) -> Verdict {
        var passcode = passcode
        return passcode.withUTF8 { check(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Looks at the bytes where they are: nothing of the passcode is copied to memory that is not wiped, but for one
    /// character at a time.
    public static func check(utf8 bytes: UnsafeRawBufferPointer) -> Verdict {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            guard !bytes.contains(0), let count = characterCount(bytes) else { return .notText }
            if count < minimumLength { return .tooShort }
            return weakness(bytes).map { .weak($0) } ?? .fine
        }
    }

    /// Nil where the bytes are not UTF-8.
    private static func characterCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard #available(macOS 26, iOS 26, *) else {
            // Before UTF8Span, a copy that lives for this call is the only way to find the borders of characters.
            return String(validating: bytes, as: UTF8.self)?.count
        }
        guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
        var characters = text.makeCharacterIterator()
        var count = 0
        while characters.next() != nil { count += 1 }
        return count
    }

    private static func weakness(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        if repeats(bytes, every: 1) { return "It repeats one character." }
        if bytes.count >= 4, (2...max(2, bytes.count / 2)).contains(where: { repeats(bytes, every: $0) }) {
            return "It repeats a few characters."
        }
        if follows(bytes, by: 1) || follows(bytes, by: -1) { return "It is a sequence of neighbouring characters." }
        if keyboardRows.contains(where: { isStretch(bytes, of: $0) }) { return "It is a row of the keyboard." }
        if isYear(bytes) { return "It looks like a year." }
        if common.contains(where: { equalsIgnoringCase(bytes, $0) }) {
            return "It is one of the most common passcodes."
        }
        return nil
    }

    private static func repeats(_ bytes: UnsafeBufferPointer<UInt8>, every period: Int) -> Bool {
        bytes.indices.allSatisfy { $0 < period || lower(bytes[$0]) == lower(bytes[$0 - period]) }
    }

    /// "1234", "dcba"; in digits 0 comes after 9 as well.
    private static func follows(_ bytes: UnsafeBufferPointer<UInt8>, by step: Int) -> Bool {
        bytes.indices.dropFirst().allSatisfy { index in
            let (previous, next) = (Int(lower(bytes[index - 1])), Int(lower(bytes[index])))
            let digits = Int(UInt8(ascii: "0"))...Int(UInt8(ascii: "9"))
            if digits.contains(previous), digits.contains(next) { return (next - previous - step) % 10 == 0 }
            return next - previous == step
        }
    }

    private static func isStretch(_ bytes: UnsafeBufferPointer<UInt8>, of row: String) -> Bool {
        let row = Array(row.utf8)
        guard bytes.count <= row.count else { return false }
        return (0...(row.count - bytes.count)).contains { start in
            let stretch = row[start..<(start + bytes.count)]
            return zip(bytes, stretch).allSatisfy { lower($0) == $1 }
                || zip(bytes, stretch.reversed()).allSatisfy { lower($0) == $1 }
        }
    }

    private static func isYear(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.count == 4 && bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            && (bytes.starts(with: "19".utf8) || bytes.starts(with: "20".utf8))
    }

    private static func equalsIgnoringCase(_ bytes: UnsafeBufferPointer<UInt8>, _ word: String) -> Bool {
        bytes.count == word.utf8.count && zip(bytes, word.utf8).allSatisfy { lower($0) == $1 }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte + 32 : byte
    }

    private static let keyboardRows = [
        "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "qsdfghjklm", "zxcvbnm", "yxcvbnm",
        "1qaz2wsx3edc4rfv", "147258369", "2580",
    ]

    private static let common = [
        "0852", "1004", "1122", "1313", "1342", "2468", "1357", "1379", "1397", "1236", "1478", "5683", "6969", "7410",
        "9630", "112233", "121314", "123123", "123321", "123654", "159753", "696969", "123qwe",
        "1q2w", "1q2w3e", "1q2w3e4r", "1q2w3e4r5t", "abc123", "abcd1234", "access", "admin", "admin123",
        "administrator",
        "baseball", "batman", "changeme", "charlie", "computer", "debian", "default", "dragon", "everline", "applocker",
        "flower", "football", "freedom", "guest", "hallo", "hello", "hello123", "hunter2", "iloveyou", "killer",
        "letmein",
        "linux", "login", "love", "lovely", "master", "michael", "monkey", "mustang", "ninja", "p@ssw0rd", "pass",
        "pass1234", "passcode", "passw0rd", "password", "password1", "password123", "passwort", "pokemon", "princess",
        "qazwsx", "qwerty1", "qwerty12", "qwerty123", "root", "secret", "shadow", "starwars", "sunshine", "superman",
        "test", "test123", "test1234", "toor", "trustno1", "ubuntu", "user", "welcome", "welcome1", "whatever",
        "zaq12wsx",
    ]
}
