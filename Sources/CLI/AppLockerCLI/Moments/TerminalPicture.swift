import Foundation
import Pictures

/// How a terminal can show pictures, according to its own reply.
enum TerminalPicture: Equatable {
    /// The kitty graphics protocol.
    case kitty
    /// DEC's sixels.
    case sixel
    /// Two pixels a character, in 24 bits of colour or in 256 colours.
    case halfBlocks(hasTrueColour: Bool)

    /// The query to the terminal: kitty's query, and the device attributes (DA1), which every terminal answers.
    static let request = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

    /// Evaluates the reply to `request`; without one, pictures are shown as characters.
    init(answer: [UInt8], environment: [String: String]) {
        let text = String(decoding: answer, as: UTF8.self)
        let attributes = text.range(of: "\u{1B}[?").map { text[$0.upperBound...].prefix { $0 != "c" } } ?? ""
        if text.contains("\u{1B}_Gi=31;OK") {
            self = .kitty
        } else if attributes.split(separator: ";").contains("4") {
            self = .sixel
        } else {
            self = .halfBlocks(hasTrueColour: ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? ""))
        }
    }

    /// The terminal's way to show pictures; nil if standard output isn't a terminal.
    static func find(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> TerminalPicture? {
        guard isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
        let answer = (try? Terminal.withControlling { try $0.answer(to: request, within: .milliseconds(500)) }) ?? []
        return TerminalPicture(answer: answer, environment: environment)
    }

    /// The characters that show a picture. Blocks.
    /// - Throws: `PictureError`.
    func text(of bytes: [UInt8], _ maker: PictureMaker, in window: TerminalWindow) throws -> String {
        switch self {
        case .kitty:
            return Self.kitty(try maker.png(of: bytes, fitting: window.pixels))
        case .sixel:
            let (size, rgb) = try maker.pixels(of: bytes, fitting: window.pixels)
            return Sixels.text(size, rgb)
        case .halfBlocks(let hasTrueColour):
            let (size, rgb) = try maker.pixels(of: bytes, fitting: window.halfBlocks)
            return Self.halfBlocks(size, rgb, hasTrueColour: hasTrueColour)
        }
    }

    /// In pieces of at most 4,096 characters, as the protocol requires.
    private static func kitty(_ png: [UInt8]) -> String {
        let encoded = Array(Data(png).base64EncodedData())
        var text = ""
        for offset in stride(from: 0, to: encoded.count, by: 4_096) {
            let piece = String(decoding: encoded[offset..<min(offset + 4_096, encoded.count)], as: UTF8.self)
            let more = offset + 4_096 < encoded.count ? 1 : 0
            text += "\u{1B}_G\(offset == 0 ? "a=T,f=100,q=2," : "")m=\(more);\(piece)\u{1B}\\"
        }
        return text + "\n"
    }

    static func halfBlocks(_ size: PictureSize, _ rgb: [UInt8], hasTrueColour: Bool) -> String {
        func colour(_ column: Int, _ row: Int) -> String {
            let at = (row * size.width + column) * 3
            let (red, green, blue) = (Int(rgb[at]), Int(rgb[at + 1]), Int(rgb[at + 2]))
            if hasTrueColour { return "2;\(red);\(green);\(blue)" }
            // xterm's cube of 6 × 6 × 6 colours.
            func level(_ value: Int) -> Int { value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40 }
            return "5;\(16 + 36 * level(red) + 6 * level(green) + level(blue))"
        }
        var text = ""
        for row in stride(from: 0, to: size.height, by: 2) {
            for column in 0..<size.width {
                let below = row + 1 < size.height ? "48;\(colour(column, row + 1))" : "49"
                text += "\u{1B}[38;\(colour(column, row));\(below)m▀"
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }
}

/// The size of the terminal.
struct TerminalWindow: Equatable {
    var columns: Int
    var rows: Int
    /// In pixels; if the terminal doesn't report it, 8 × 16 a character.
    var width: Int
    var height: Int

    static var current: TerminalWindow {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalWindow(columns: 80, rows: 24, width: 640, height: 384)
        }
        let (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
        return TerminalWindow(
            columns: columns, rows: rows, width: size.ws_xpixel > 0 ? Int(size.ws_xpixel) : columns * 8,
            height: size.ws_ypixel > 0 ? Int(size.ws_ypixel) : rows * 16)
    }

    /// The size of a picture: at most three quarters of the height, so that the text remains visible.
    var pixels: PictureSize {
        PictureSize(width: max(1, min(width, 1_600)), height: max(1, min(height * 3 / 4, 1_200)))
    }
    var halfBlocks: PictureSize { PictureSize(width: max(1, min(columns, 160)), height: max(2, rows * 3 / 4 * 2)) }
}

/// DEC sixel graphics: six rows of pixels a line, in the 216 colours of a cube of six levels.
enum Sixels {
    static func text(_ size: PictureSize, _ rgb: [UInt8]) -> String {
        var bytes = Array("\u{1B}P0;1;0q\"1;1;\(size.width);\(size.height)".utf8)
        for colour in 0..<216 {
            let levels = [colour / 36, colour / 6 % 6, colour % 6].map { String($0 * 20) }
            bytes += "#\(colour);2;\(levels.joined(separator: ";"))".utf8
        }
        // The colour of each pixel of six rows.
        var colours = [Int](repeating: 0, count: size.width * 6)
        for top in stride(from: 0, to: size.height, by: 6) {
            let rows = min(6, size.height - top)
            var used = Set<Int>()
            for row in 0..<rows {
                for column in 0..<size.width {
                    let at = ((top + row) * size.width + column) * 3
                    func level(_ value: UInt8, _ step: Int) -> Int {
                        // Ordered dithering, 2 × 2: neighbours are rounded differently.
                        min(5, (Int(value) * 20 + step * 255) / (255 * 4))
                    }
                    let step = [[0, 2], [3, 1]][(top + row) & 1][column & 1]
                    let colour = level(rgb[at], step) * 36 + level(rgb[at + 1], step) * 6 + level(rgb[at + 2], step)
                    colours[row * size.width + column] = colour
                    used.insert(colour)
                }
            }
            for colour in used.sorted() {
                bytes += "#\(colour)".utf8
                var (last, count) = (UInt8(0), 0)
                for column in 0..<size.width {
                    var pattern: UInt8 = 0
                    for row in 0..<rows where colours[row * size.width + column] == colour {
                        pattern |= 1 << UInt8(row)
                    }
                    if pattern == last, count > 0 {
                        count += 1
                    } else {
                        append(last, count, to: &bytes)
                        (last, count) = (pattern, 1)
                    }
                }
                append(last, count, to: &bytes)
                bytes += "$".utf8
            }
            bytes += "-".utf8
        }
        return String(decoding: bytes, as: UTF8.self) + "\u{1B}\\\n"
    }

    private static func append(_ pattern: UInt8, _ count: Int, to bytes: inout [UInt8]) {
        guard count > 0 else { return }
        if count > 3 {
            bytes += "!\(count)".utf8
            bytes.append(0x3F + pattern)
        } else {
            for _ in 0..<count { bytes.append(0x3F + pattern) }
        }
    }
}
