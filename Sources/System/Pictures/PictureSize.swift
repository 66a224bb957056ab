/// Width and height in pixels.
public struct PictureSize: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var longerSide: Int { max(width, height) }
    var turned: PictureSize { PictureSize(width: height, height: width) }

    /// The whole picture, at most so large, no side shorter than a pixel.
    public func fitting(_ most: PictureSize) -> PictureSize {
        let scale = min(1, Double(most.width) / Double(width), Double(most.height) / Double(height))
        return PictureSize(
            width: max(1, min(most.width, Int((Double(width) * scale).rounded()))),
            height: max(1, min(most.height, Int((Double(height) * scale).rounded()))))
    }

    func fitting(side: Int) -> PictureSize { fitting(PictureSize(width: side, height: side)) }

    /// From the file's header, before rotation.
    /// - Throws: `PictureError` with code `damaged`.
    init(of bytes: [UInt8], _ type: PictureType) throws(PictureError) {
        let found: PictureSize? =
            switch type {
            case .jpeg: JPEGSegments.size(of: bytes)
            case .png: Self.png(bytes)
            case .gif: Self.gif(bytes)
            case .webp: Self.webp(bytes)
            case .heic, .avif: nil
            }
        guard let found, found.width > 0, found.height > 0 else { throw .damaged }
        self = found
    }

    /// PNG (ISO/IEC 15948), 11.2.2: IHDR comes first.
    private static func png(_ bytes: [UInt8]) -> PictureSize? {
        guard bytes.count >= 24, Array(bytes[12..<16]) == Array("IHDR".utf8) else { return nil }
        func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        return PictureSize(width: number(16), height: number(20))
    }

    /// GIF89a, 18: the logical screen.
    private static func gif(_ bytes: [UInt8]) -> PictureSize? {
        guard bytes.count >= 10 else { return nil }
        return PictureSize(width: little(bytes, 6, 2), height: little(bytes, 8, 2))
    }

    /// RFC 9649, 2.5 to 2.7.
    private static func webp(_ bytes: [UInt8]) -> PictureSize? {
        guard bytes.count >= 30 else { return nil }
        switch String(decoding: bytes[12..<16], as: UTF8.self) {
        case "VP8X": return PictureSize(width: little(bytes, 24, 3) + 1, height: little(bytes, 27, 3) + 1)
        case "VP8L":
            let packed = little(bytes, 21, 4)
            return PictureSize(width: packed & 0x3FFF + 1, height: packed >> 14 & 0x3FFF + 1)
        case "VP8 ": return PictureSize(width: little(bytes, 26, 2) & 0x3FFF, height: little(bytes, 28, 2) & 0x3FFF)
        default: return nil
        }
    }

    private static func little(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
