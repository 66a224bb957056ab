/// The type of a picture by its first bytes; its name is ignored.
public enum PictureType: String, CaseIterable, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case webp = "image/webp"
    case gif = "image/gif"
    case heic = "image/heic"
    case avif = "image/avif"

    /// Nil for what is no picture that is kept in a vault.
    public init?(_ bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(16))
        func holds(_ text: [UInt8], at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: text) }
        if holds([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if holds([0x89] + Array("PNG\r\n\u{1A}\n".utf8)) {
            self = .png
        } else if holds(Array("RIFF".utf8)), holds(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if holds(Array("GIF8".utf8)) {
            self = .gif
        } else if holds(Array("ftyp".utf8), at: 4), start.count >= 12 {
            switch String(decoding: start[8..<12], as: UTF8.self) {
            case "heic", "heix", "heim", "heis", "mif1", "msf1": self = .heic
            case "avif", "avis": self = .avif
            default: return nil
            }
        } else {
            return nil
        }
    }

    /// ffmpeg's reader for it; nil where it has none that reads from a pipe.
    var format: String? {
        switch self {
        case .jpeg: "jpeg_pipe"
        case .png: "png_pipe"
        case .webp: "webp_pipe"
        case .gif: "gif"
        case .heic, .avif: nil
        }
    }
}

/// Why a picture is not taken.
public struct PictureError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// No picture, or of a kind that this computer can't open.
        case notPicture = "not_picture"
        case damaged
        case tooLarge = "too_large"
        case tookTooLong = "took_too_long"
        /// ffmpeg is missing or can't be started.
        case failed
    }

    public let code: Code
    /// One sentence: what was wrong and what to do.
    public let sentence: String

    init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    public var description: String { sentence }

    static let damaged = PictureError(
        .damaged, "The picture is damaged; open it in another program and save it again.")
}
