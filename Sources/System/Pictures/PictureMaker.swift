/// A picture in all sizes that a vault keeps.
public struct PreparedPicture: Sendable {
    /// Of the original, upright.
    public let size: PictureSize
    public let type: PictureType
    public let original: [UInt8]
    /// A JPEG in the colours of the original; nil where that is a JPEG that is small enough.
    public let medium: [UInt8]?
    /// A JPEG.
    public let thumbnail: [UInt8]
    /// The file's metadata.
    public let exif: Exif?
    /// Whether the file has several pictures, as an animation has, and only the first is kept.
    public let isReducedToOnePicture: Bool
}

/// Makes the sizes of pictures, by way of `applocker-picture`. A value; its calls block.
public struct PictureMaker: Sendable {
    /// How large the sizes may be.
    public struct Limits: Sendable {
        /// Longer sides, in pixels.
        public var medium: Int
        public var thumbnail: Int
        /// In bytes.
        public var mediumBytes: Int
        public var thumbnailBytes: Int

        public init(medium: Int, thumbnail: Int, mediumBytes: Int, thumbnailBytes: Int) {
            self.medium = medium
            self.thumbnail = thumbnail
            self.mediumBytes = mediumBytes
            self.thumbnailBytes = thumbnailBytes
        }
    }

    private let process: PictureProcess

    /// - Parameters:
    ///   - executable: absolute path of `applocker-picture`.
    ///   - limit: for each step; then it is killed.
    public init(executable: String, limit: Duration = .seconds(60)) {
        process = PictureProcess(executable: executable, limit: limit, maximumOutput: 256 << 20)
    }

    /// - Parameter keepsOriginal: the unchanged file with all its metadata; otherwise only its
    ///   pixels, their colours and how they are turned. A JPEG and a PNG keep every pixel as it is; others become a JPEG.
    /// - Throws: `PictureError`.
    public func prepare(
        _ bytes: [UInt8], keepsOriginal: Bool, limits: Limits
    ) throws(PictureError) -> PreparedPicture {
        let type = try Self.type(bytes)
        let exif = Exif(bytes)
        // Also where the file is kept as it is: what can't be drawn here is not taken.
        let made = try process.run(
            "prepare", type, [Self.orientation(exif, type), limits.medium, limits.thumbnail, limits.thumbnailBytes],
            input: bytes)
        let (numbers, content) = try Self.split(made, count: 5)
        let size = PictureSize(width: numbers[0], height: numbers[1])
        guard content.count == numbers[3] + numbers[4], numbers[3] <= limits.mediumBytes,
            numbers[4] <= limits.thumbnailBytes
        else { throw .damaged }
        let (medium, thumbnail) = (Array(content.prefix(numbers[3])), Array(content.dropFirst(numbers[3])))
        try Self.check(medium, limits.medium)
        try Self.check(thumbnail, limits.thumbnail)
        let (originalType, original) = keepsOriginal ? (type, bytes) : try self.original(bytes, type, exif)
        let isEnough =
            originalType == .jpeg && size.longerSide <= limits.medium && original.count <= limits.mediumBytes
        return PreparedPicture(
            size: size, type: originalType, original: original, medium: isEnough ? nil : medium, thumbnail: thumbnail,
            exif: exif, isReducedToOnePicture: numbers[2] > 1 && originalType != type)
    }

    /// What is kept of a file where it is not kept as it is: of the same file always the same.
    /// - Throws: `PictureError`.
    public func original(of bytes: [UInt8]) throws(PictureError) -> (type: PictureType, bytes: [UInt8]) {
        try original(bytes, try Self.type(bytes), Exif(bytes))
    }

    private func original(
        _ bytes: [UInt8], _ type: PictureType, _ exif: Exif?
    ) throws(PictureError) -> (type: PictureType, bytes: [UInt8]) {
        let orientation = Self.orientation(exif, type)
        let stripped: [UInt8]? =
            switch type {
            case .jpeg: JPEGSegments.stripped(bytes, orientation: orientation)
            case .png: PNGChunks.stripped(bytes)
            default: try process.run("jpeg", type, [orientation], input: bytes)
            }
        guard let stripped else { throw .damaged }
        return (type == .png ? .png : .jpeg, stripped)
    }

    private static func type(_ bytes: [UInt8]) throws(PictureError) -> PictureType {
        if let type = PictureType(bytes) { return type }
        if let name = PictureType.unsupportedName(bytes) { throw .unsupported(name) }
        throw PictureError(.notPicture, "This is not a supported photo: JPEG, HEIC, PNG, WebP, AVIF or GIF.")
    }

    /// HEIC and AVIF are turned by properties of their own, which libheif applies; a PNG has no turn that is kept.
    private static func orientation(_ exif: Exif?, _ type: PictureType) -> Int {
        type == .jpeg || type == .webp ? exif?.orientation ?? 1 : 1
    }

    /// What the decoder of an attacker's picture writes can't be trusted either.
    private static func check(_ jpeg: [UInt8], _ side: Int) throws(PictureError) {
        guard let size = JPEGSegments.size(of: jpeg), 1...side ~= size.longerSide else { throw .damaged }
    }

    /// The numbers of the first line, none above 2^30, and what follows it.
    private static func split(
        _ made: [UInt8], count: Int
    ) throws(PictureError) -> (numbers: [Int], content: ArraySlice<UInt8>) {
        guard let end = made.prefix(64).firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged }
        let numbers = made[..<end].split(separator: UInt8(ascii: " ")).compactMap { word in
            Int(String(decoding: word, as: UTF8.self)).flatMap { 1...1 << 30 ~= $0 ? $0 : nil }
        }
        guard numbers.count == count else { throw .damaged }
        return (numbers, made[(end + 1)...])
    }

    // MARK: Showing

    /// The pixels of a picture, 3 bytes each, as a terminal shows them.
    /// - Throws: `PictureError`.
    public func pixels(
        of bytes: [UInt8], fitting most: PictureSize
    ) throws(PictureError) -> (size: PictureSize, rgb: [UInt8]) {
        let (numbers, rgb) = try Self.split(try shown("rgb", bytes, most), count: 2)
        let size = PictureSize(width: numbers[0], height: numbers[1])
        guard size.width <= most.width, size.height <= most.height, rgb.count == size.width * size.height * 3 else {
            throw .damaged
        }
        return (size, Array(rgb))
    }

    /// The same as a PNG.
    /// - Throws: `PictureError`.
    public func png(of bytes: [UInt8], fitting most: PictureSize) throws(PictureError) -> [UInt8] {
        let made = try shown("png", bytes, most)
        guard PictureType(made) == .png else { throw .damaged }
        return made
    }

    private func shown(_ command: String, _ bytes: [UInt8], _ most: PictureSize) throws(PictureError) -> [UInt8] {
        let type = try Self.type(bytes)
        return try process.run(
            command, type, [Self.orientation(Exif(bytes), type), most.width, most.height], input: bytes)
    }
}
