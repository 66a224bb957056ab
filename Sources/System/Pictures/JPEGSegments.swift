import Glibc

/// The segments of a JPEG (ITU-T T.81, annex B). Pictures come from anywhere: every length is checked before it is followed.
enum JPEGSegments {
    private enum Marker {
        static let start: UInt8 = 0xD8
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let comment: UInt8 = 0xFE
        static let application: ClosedRange<UInt8> = 0xE0...0xEF
        static let restart: ClosedRange<UInt8> = 0xD0...0xD7
        /// SOF0 to SOF15, without DHT, JPG and DAC.
        static func isFrame(_ marker: UInt8) -> Bool {
            (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
        }
    }

    /// One segment with its marker, or a scan with the data behind it.
    private struct Segment {
        let marker: UInt8
        /// Of the whole, marker and length included.
        let whole: Range<Int>
        /// The bytes after the length.
        let content: Range<Int>
    }

    /// From the first to the end of the picture; what follows is not a part of it.
    /// - Returns: false where `body` did, to end early, and where a segment is damaged.
    private static func forEach(in bytes: [UInt8], _ body: (Segment) -> Bool) -> Bool {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == Marker.start else { return false }
        var offset = 2
        while offset + 2 <= bytes.count {
            guard bytes[offset] == 0xFF else { return false }
            let marker = bytes[offset + 1]
            // Padding between segments.
            if marker == 0xFF {
                offset += 1
                continue
            }
            if marker == Marker.end { return true }
            guard marker >= 0xC0, !Marker.restart.contains(marker), marker != Marker.start, offset + 4 <= bytes.count
            else { return false }
            let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            guard length >= 2, offset + 2 + length <= bytes.count else { return false }
            let content = offset + 4..<offset + 2 + length
            let end = marker == Marker.scan ? endOfScan(bytes, content.upperBound) : content.upperBound
            guard body(Segment(marker: marker, whole: offset..<end, content: content)) else { return false }
            offset = end
        }
        // Without its end marker it is shown as far as it goes.
        return true
    }

    /// Where the next marker is that is not a part of the scan's data.
    private static func endOfScan(_ bytes: [UInt8], _ start: Int) -> Int {
        bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress else { return start }
            var offset = start
            while offset + 1 < all.count {
                guard let found = memchr(base + offset, 0xFF, all.count - offset - 1) else { break }
                offset = UnsafeRawPointer(found) - base
                let next = all[offset + 1]
                if next != 0, next != 0xFF, !Marker.restart.contains(next) { return offset }
                offset += next == 0xFF ? 1 : 2
            }
            return all.count
        }
    }

    /// From the frame's header.
    static func size(of bytes: [UInt8]) -> PictureSize? {
        var size: PictureSize?
        _ = forEach(in: bytes) { segment in
            guard Marker.isFrame(segment.marker) else { return segment.marker != Marker.scan }
            guard segment.content.count >= 5 else { return false }
            let at = segment.content.lowerBound + 1
            size = PictureSize(
                width: Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]), height: Int(bytes[at]) << 8 | Int(bytes[at + 1]))
            return false
        }
        return size
    }

    /// The TIFF of the first Exif segment (CIPA DC-008, 4.7.2); nil where there is none.
    static func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        _ = forEach(in: bytes) { segment in
            if segment.marker == Marker.scan { return false }
            let content = bytes[segment.content]
            guard segment.marker == 0xE1, content.starts(with: exifName) else { return true }
            found = content.dropFirst(exifName.count)
            return false
        }
        return found
    }

    private static let exifName = Array("Exif\0\0".utf8)

    /// The same image, bit by bit, without metadata: camera, time, place, previews, comments, and data after its end.
    /// Its colour profile and orientation are kept.
    /// - Parameter orientation: as in Exif, 1 to 8.
    /// - Returns: nil for a damaged image.
    static func stripped(_ bytes: [UInt8], orientation: Int) -> [UInt8]? {
        var kept: [UInt8] = [0xFF, Marker.start]
        kept.reserveCapacity(bytes.count)
        var (hasScan, hasOrientation) = (false, orientation == 1)
        let isWhole = forEach(in: bytes) { segment in
            let content = bytes[segment.content]
            let isFileHeader =
                segment.marker == 0xE0 && content.count == 14 && content.starts(with: Array("JFIF\0".utf8))
            // The file's header, where there is one, comes first.
            if !hasOrientation, !isFileHeader {
                kept += turned(orientation)
                hasOrientation = true
            }
            let isNeeded =
                isFileHeader || segment.marker == 0xE2 && content.starts(with: Array("ICC_PROFILE\0".utf8))
                || segment.marker == 0xEE && content.starts(with: Array("Adobe".utf8))
            if !isNeeded, Marker.application.contains(segment.marker) || segment.marker == Marker.comment {
                return true
            }
            hasScan = hasScan || segment.marker == Marker.scan
            kept += bytes[segment.whole]
            return true
        }
        guard isWhole, hasScan else { return nil }
        return kept + [0xFF, Marker.end]
    }

    /// An Exif segment with this alone.
    private static func turned(_ orientation: Int) -> [UInt8] {
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(truncatingIfNeeded: orientation), 0, 0]
        let tiff = Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1] + entry + [0, 0, 0, 0]
        return [0xFF, 0xE1, 0, UInt8(2 + exifName.count + tiff.count)] + exifName + tiff
    }
}

/// The chunks of a PNG (ISO/IEC 15948).
enum PNGChunks {
    /// What the pixels, their colours and their animation need.
    private static let needed: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "acTL", "fcTL", "fdAT",
    ]

    /// The same picture without texts, time, other metadata and bytes after its end; nil for a damaged one.
    static func stripped(_ bytes: [UInt8]) -> [UInt8]? {
        guard PictureType(bytes) == .png else { return nil }
        var kept = Array(bytes.prefix(8))
        kept.reserveCapacity(bytes.count)
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - offset - 12 else { return nil }
            let name = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
            if needed.contains(name) { kept += bytes[offset..<offset + 12 + length] }
            if name == "IEND" { return kept }
            offset += 12 + length
        }
        return nil
    }
}
