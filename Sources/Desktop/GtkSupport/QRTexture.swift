import CGtk4
public import QRCode

/// A QR code as a picture, black on white in both themes: many readers support only that.
@MainActor
public enum QRTexture {
    /// Modules of white around the code: ISO/IEC 18004 requires four.
    private static let quietZone = 4

    /// - Parameter scale: pixels of a module's side.
    /// - Returns: a GdkTexture, which the caller unrefs.
    public static func make(_ code: QRCode, scale: Int) -> OpaquePointer {
        let side = (code.width + 2 * quietZone) * scale
        var points: [UInt8] = []
        points.reserveCapacity(side * side * 3)
        for y in 0..<side {
            for x in 0..<side {
                let isDark = code.isDark(y / scale - quietZone, x / scale - quietZone)
                points += repeatElement(isDark ? 0 : 255, count: 3)
            }
        }
        return PictureTexture.make(width: side, height: side, rgb: points)
    }
}
