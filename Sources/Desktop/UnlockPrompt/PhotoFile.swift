/// The bytes of one JPEG, checked before they are passed to a third-party decoder.
struct PhotoFile: Equatable {
    static let maximumBytes = 8 << 20
    /// More than any webcam has. Each pixel takes 4 bytes of memory.
    static let maximumPixels = 50_000_000

    let bytes: [UInt8]
    let width: Int
    let height: Int

    /// Finds the frame header by the lengths of the segments before it (ITU-T T.81, B.1.1 and B.2.2).
    init(bytes: [UInt8]) throws(PhotoFailure) {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { throw .notJPEG }
        // A truncated picture has no end marker.
        guard bytes.suffix(2) == [0xFF, 0xD9] else { throw .damaged }
        func number(at index: Int) -> Int { Int(bytes[index]) << 8 | Int(bytes[index + 1]) }
        var index = 2
        while index + 9 <= bytes.count {
            guard bytes[index] == 0xFF else { throw .damaged }
            switch bytes[index + 1] {
            case 0xFF:  // fill byte
                index += 1
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                height = number(at: index + 5)
                width = number(at: index + 7)
                guard width > 0, height > 0 else { throw .damaged }
                guard width * height <= Self.maximumPixels else {
                    throw .tooManyPixels(width: width, height: height)
                }
                self.bytes = bytes
                return
            case 0xDA, 0xD8, 0xD9, 0x00:  // the picture itself, or another's beginning, before any frame header
                throw .damaged
            default:
                let length = number(at: index + 2)
                guard length >= 2 else { throw .damaged }
                index += 2 + length
            }
        }
        throw .damaged
    }
}
