import CQrencode

/// A QR code (ISO/IEC 18004) of some text, through libqrencode.
public struct QRCode: Sendable {
    /// The text is too long, or there is not enough memory.
    public struct Failure: Error, CustomStringConvertible {
        public let description = "This text does not fit into a QR code; shorten it."
    }

    /// Modules on each side, without the quiet zone.
    public let width: Int
    /// Row by row; true is dark.
    public let modules: [Bool]

    /// Error correction level M: a sixth of the code may be stained.
    /// - Parameter text: UTF-8; letters and digits in upper case alone take less room.
    /// - Throws: `Failure`.
    public init(_ text: String) throws(Failure) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { throw Failure() }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        self.width = width
        modules = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// Whether the module is dark; outside the code none is.
    public func isDark(_ row: Int, _ column: Int) -> Bool {
        0..<width ~= row && 0..<width ~= column && modules[row * width + column]
    }

    /// For a terminal: two rows a line with half blocks, dark on light in whatever colours the terminal has, with the
    /// quiet zone of four modules that readers need.
    public var terminalLines: [String] {
        let zone = 4
        return stride(from: -zone, to: width + zone, by: 2).map { row in
            let blocks = (-zone..<width + zone).map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): " "
                case (true, false): "▄"
                case (false, true): "▀"
                case (false, false): "█"
                }
            }
            // White on black, so that a light terminal shows it the right way round too.
            return "\u{1B}[97;40m\(blocks.joined())\u{1B}[0m"
        }
    }

    /// As a picture: SVG 1.1, one unit a module, with the quiet zone.
    public var svg: String {
        let zone = 4
        let side = width + 2 * zone
        var path = ""
        for row in 0..<width {
            for column in 0..<width where isDark(row, column) { path += "M\(column + zone) \(row + zone)h1v1h-1z" }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" role="img" aria-label="QR code">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path fill="#000" d="\(path)"/></svg>
            """
    }
}
