import ControlAPI
import Foundation

/// A passcode in memory that is not swapped out, and is wiped with the last reference.
///
/// `text` is a Swift string. Its copies in the request's JSON can't be wiped: they remain until the memory is reused.
/// That is acceptable in a process that ends right after, and in `log --all --follow`, which its user leaves running.
///
/// @unchecked Sendable: the bytes are written only by `append`, before the value leaves its one reader.
final class Passcode: @unchecked Sendable {
    /// The longest passcode, in bytes of UTF-8.
    static let maximumBytes = 1024

    private let storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init() {
        storage = .allocate(byteCount: Self.maximumBytes, alignment: 1)
        // Fails if the user's limit of locked memory is reached; the passcode is still wiped.
        _ = mlock(storage.baseAddress!, storage.count)
    }

    convenience init(_ text: String) {
        self.init()
        for byte in text.utf8.prefix(Self.maximumBytes) { append(byte) }
    }

    deinit {
        wipe()
        munlock(storage.baseAddress!, storage.count)
        storage.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// - Returns: false if the passcode is full.
    @discardableResult
    func append(_ byte: UInt8) -> Bool {
        guard count < Self.maximumBytes else { return false }
        storage[count] = byte
        count += 1
        return true
    }

    /// Removes the last character, however many bytes of UTF-8 it has.
    func removeLastCharacter() {
        while count > 0 {
            count -= 1
            let isContinuation = storage[count] & 0xC0 == 0x80
            storage[count] = 0
            if !isContinuation { return }
        }
    }

    func wipe() {
        explicit_bzero(storage.baseAddress!, storage.count)
        count = 0
    }

    /// - Throws: `CommandLineError` for bytes that no keyboard can type.
    var text: String {
        get throws {
            let bytes = UnsafeRawBufferPointer(rebasing: storage[..<count])
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CommandLineError(
                    .usage, code: "passcode_not_text",
                    "The passcode is not valid UTF-8. Check the encoding of the terminal or script.")
            }
            return text
        }
    }

    static func == (left: Passcode, right: Passcode) -> Bool {
        guard left.count == right.count else { return false }
        return (0..<left.count).reduce(UInt8(0)) { $0 | (left.storage[$1] ^ right.storage[$1]) } == 0
    }
}
