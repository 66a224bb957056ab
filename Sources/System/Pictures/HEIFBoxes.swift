/// The boxes of a HEIC or AVIF (ISO/IEC 14496-12 and 23008-12). Pictures come from anywhere: every length is checked before
/// it is followed.
enum HEIFBoxes {
    private struct Box {
        let type: String
        let content: Range<Int>
    }

    /// Of the file's boxes, and of those within a box, at most so many are looked at.
    private static let maximumBoxes = 4_096

    /// The TIFF of the first Exif item (ISO/IEC 23008-12, annex A.2); nil if the file contains no such item.
    static func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let meta = first("meta", of: bytes, in: 0..<bytes.count)?.content, meta.count > 4 else { return nil }
        // It has a version and flags before its boxes.
        let boxes = meta.dropFirst(4)
        guard let items = first("iinf", of: bytes, in: boxes), let locations = first("iloc", of: bytes, in: boxes),
            let item = exifItem(bytes, items.content),
            let extent = location(of: item, bytes, locations.content, first("idat", of: bytes, in: boxes)?.content)
        else { return nil }
        // How many bytes are before the TIFF, usually "Exif\0\0".
        var reader = Reader(bytes, extent)
        guard let skipped = reader.number(4), skipped <= extent.count - 4 else { return nil }
        return bytes[(extent.lowerBound + 4 + skipped)..<extent.upperBound]
    }

    private static func first(_ type: String, of bytes: [UInt8], in range: Range<Int>) -> Box? {
        boxes(of: bytes, in: range).first { $0.type == type }
    }

    private static func boxes(of bytes: [UInt8], in range: Range<Int>) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while boxes.count < maximumBoxes, range.upperBound - offset >= 8 {
            var reader = Reader(bytes, offset..<range.upperBound)
            guard var size = reader.number(4), let type = reader.text(4) else { break }
            if size == 1 {
                guard let large = reader.number(8) else { break }
                size = large
            } else if size == 0 {
                size = range.upperBound - offset
            }
            guard size >= reader.offset - offset, size <= range.upperBound - offset else { break }
            boxes.append(Box(type: type, content: reader.offset..<offset + size))
            offset += size
        }
        return boxes
    }

    /// The id of the first item of type Exif (14496-12, 8.11.6).
    private static func exifItem(_ bytes: [UInt8], _ content: Range<Int>) -> Int? {
        var reader = Reader(bytes, content)
        guard let version = reader.number(1), reader.skip(3), reader.skip(version == 0 ? 2 : 4) else { return nil }
        for box in boxes(of: bytes, in: reader.offset..<content.upperBound) where box.type == "infe" {
            var entry = Reader(bytes, box.content)
            guard let version = entry.number(1), version >= 2, entry.skip(3),
                let id = entry.number(version == 2 ? 2 : 4),
                entry.skip(2), entry.text(4) == "Exif"
            else { continue }
            return id
        }
        return nil
    }

    /// Where the bytes of an item are (14496-12, 8.11.3), if they are in one piece.
    private static func location(
        of item: Int, _ bytes: [UInt8], _ content: Range<Int>, _ data: Range<Int>?
    ) -> Range<Int>? {
        var reader = Reader(bytes, content)
        guard let version = reader.number(1), version <= 2, reader.skip(3), let sizes = reader.number(2),
            let count = reader.number(version < 2 ? 2 : 4)
        else { return nil }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version > 0 ? sizes & 15 : 0
        guard [offsetSize, lengthSize, baseSize, indexSize].allSatisfy({ [0, 4, 8].contains($0) }) else { return nil }
        for _ in 0..<min(count, maximumBoxes) {
            guard let id = reader.number(version < 2 ? 2 : 4), let method = version > 0 ? reader.number(2) : 0,
                reader.skip(2), let base = reader.number(baseSize), let extents = reader.number(2)
            else { return nil }
            guard id == item else {
                guard reader.skip(extents * (indexSize + offsetSize + lengthSize)) else { return nil }
                continue
            }
            guard extents == 1, reader.skip(indexSize), let offset = reader.number(offsetSize),
                let length = reader.number(lengthSize)
            else { return nil }
            // Method 0 counts from the file's beginning, 1 from that of the box idat.
            guard let whole = method == 0 ? 0..<bytes.count : method == 1 ? data : nil, base <= whole.count,
                offset <= whole.count - base, length <= whole.count - base - offset
            else { return nil }
            let start = whole.lowerBound + base + offset
            return start..<start + length
        }
        return nil
    }

    /// Big-endian numbers, none above 2^62, one after another.
    private struct Reader {
        private let bytes: [UInt8]
        private let end: Int
        private(set) var offset: Int

        init(_ bytes: [UInt8], _ range: Range<Int>) {
            (self.bytes, offset, end) = (bytes, range.lowerBound, range.upperBound)
        }

        mutating func skip(_ count: Int) -> Bool {
            guard count <= end - offset else { return false }
            offset += count
            return true
        }

        mutating func number(_ count: Int) -> Int? {
            let start = offset
            guard skip(count), count < 8 || bytes[start] < 0x40 else { return nil }
            return bytes[start..<offset].reduce(0) { $0 << 8 | Int($1) }
        }

        mutating func text(_ count: Int) -> String? {
            let start = offset
            return skip(count) ? String(decoding: bytes[start..<offset], as: UTF8.self) : nil
        }
    }
}

/// The chunks of a WebP (RFC 9649).
enum WebPChunks {
    /// The TIFF of the chunk EXIF; nil if the file contains no such chunk.
    static func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var offset = 12
        while offset + 8 <= bytes.count {
            let length = bytes[(offset + 4)..<(offset + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - offset - 8 else { return nil }
            let content = bytes[(offset + 8)..<(offset + 8 + length)]
            if bytes[offset..<(offset + 4)].elementsEqual("EXIF".utf8) {
                // Some programs put the name of the JPEG's segment before it.
                return content.starts(with: "Exif\0\0".utf8) ? content.dropFirst(6) : content
            }
            offset += 8 + length + length % 2
        }
        return nil
    }
}
