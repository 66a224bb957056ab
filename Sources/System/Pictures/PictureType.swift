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

    /// Its name for people.
    public var name: String {
        switch self {
        case .jpeg: "JPEG"
        case .png: "PNG"
        case .webp: "WebP"
        case .gif: "GIF"
        case .heic: "HEIC"
        case .avif: "AVIF"
        }
    }

    /// Its name for `applocker-picture`.
    var format: String { String(rawValue.dropFirst("image/".count)) }

    /// The name of another format of pictures, by the file's first bytes; nil for what is no picture.
    public static func unsupportedName(_ bytes: some Collection<UInt8>) -> String? {
        let formats: [(start: [UInt8], name: String)] = [
            ([0x49, 0x49, 0x2A, 0], "TIFF and raw"), ([0x4D, 0x4D, 0, 0x2A], "TIFF and raw"),
            ([0xFF, 0x0A], "JPEG XL"),
            ([0, 0, 0, 12] + Array("JXL ".utf8), "JPEG XL"), ([0, 0, 0, 12] + Array("jP  ".utf8), "JPEG 2000"),
            (Array("8BPS".utf8), "Photoshop"),
        ]
        if let format = formats.first(where: { bytes.starts(with: $0.start) }) { return format.name }
        // Two letters alone don't make it one: the size of its header follows.
        let isBitmap = bytes.starts(with: Array("BM".utf8)) && bytes.dropFirst(14).starts(with: [40, 0])
        return isBitmap ? "BMP" : nil
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
        /// Its decoder is missing or can't be started.
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

    /// - Parameter reason: from `applocker-picture`, which may be anything.
    init(reason: String, _ type: PictureType) {
        switch reason {
        case "truncated":
            self.init(.damaged, "The file is incomplete: its end is missing. Copy it again from where it came from.")
        case "pixels": self.init(.tooLarge, "The picture has more than 200 million pixels; add a smaller one.")
        case "memory": self.init(.tooLarge, "The picture takes too much memory; add a smaller one.")
        case "library":
            self.init(
                .notPicture,
                "\(type.name) photos need libheif, which is not installed; install the package libheif1, and add it again."
            )
        case "codec":
            self.init(
                .notPicture,
                "This \(type.name) photo is compressed in a way that libheif can't open; convert it to JPEG.")
        case "sandbox": self.init(.failed, "The program that opens pictures can't be confined on this computer.")
        default: self = .damaged
        }
    }

    /// - Parameter name: from `PictureType.unsupportedName`.
    public static func unsupported(_ name: String) -> PictureError {
        PictureError(.notPicture, "\(name) pictures are not supported; convert it to JPEG.")
    }

    static let damaged = PictureError(
        .damaged, "The picture is damaged; open it in another program and save it again.")
}
