package import HubAPI
import SealedFormats

extension HubID {
    /// 16 bytes, half the length of the digits.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var high: UInt8?
        for digit in description.utf8 {
            let nibble = digit < 58 ? digit - 48 : digit - 87
            if let upper = high {
                bytes.append(upper << 4 | nibble)
                high = nil
            } else {
                high = nibble
            }
        }
        return bytes
    }

    package static func random() -> HubID {
        guard let id = HubID(ItemID.random().description) else {
            preconditionFailure("an id has 32 hexadecimal digits")
        }
        return id
    }

    /// - Returns: nil for anything but 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(32)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        self.init(String(decoding: text, as: UTF8.self))
    }
}
