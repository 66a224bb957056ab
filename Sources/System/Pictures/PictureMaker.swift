/// A picture in all sizes that a vault keeps.
public struct PreparedPicture: Sendable {
    /// Of the original, upright.
    public let size: PictureSize
    public let type: PictureType
    public let original: [UInt8]
    /// A JPEG; nil where the original is one that is small enough.
    public let medium: [UInt8]?
    /// A JPEG.
    public let thumbnail: [UInt8]
    /// The file's metadata.
    public let exif: Exif?
}

/// Makes the sizes of pictures, by way of ffmpeg. A value; its calls block.
public struct PictureMaker: Sendable {
    /// How large the sizes may be.
    public struct Limits: Sendable {
        /// Longer sides, in pixels.
        public var medium: Int
        public var thumbnail: Int
        /// Of the thumbnail, in bytes.
        public var thumbnailBytes: Int

        public init(medium: Int, thumbnail: Int, thumbnailBytes: Int) {
            self.medium = medium
            self.thumbnail = thumbnail
            self.thumbnailBytes = thumbnailBytes
        }
    }

    /// Debian's path. Fixed, because the environment's PATH can't be trusted.
    public static let debianExecutable = "/usr/bin/ffmpeg"
    /// Of a picture, in pixels: a file of some bytes can claim to be as large as the memory.
    static let maximumPixels = 200_000_000

    private let process: PictureProcess

    /// - Parameters:
    ///   - executable: absolute path of ffmpeg.
    ///   - limit: for each step; then it is killed.
    public init(executable: String = PictureMaker.debianExecutable, limit: Duration = .seconds(60)) {
        process = PictureProcess(executable: executable, limit: limit, maximumOutput: 256 << 20)
    }

    /// - Parameter keepsOriginal: the unchanged file with all its metadata; otherwise only its
    ///   pixels, their colours and how they are turned. A JPEG and a PNG keep every pixel as it is; others become a JPEG.
    /// - Throws: `PictureError`.
    public func prepare(
        _ bytes: [UInt8], keepsOriginal: Bool, limits: Limits
    ) throws(PictureError) -> PreparedPicture {
        guard let type = PictureType(bytes) else {
            throw PictureError(.notPicture, "This is not a supported photo: JPEG, PNG, WebP or GIF.")
        }
        guard type.format != nil else {
            throw PictureError(
                .notPicture,
                "\(type == .heic ? "HEIC" : "AVIF") photos can't be opened on this computer; convert it to JPEG, or add it on a "
                    + "phone that supports it.")
        }
        let exif = type == .jpeg ? Exif(bytes) : nil
        let orientation = exif?.orientation ?? 1
        let stored = try PictureSize(of: bytes, type)
        guard stored.width <= Self.maximumPixels / stored.height else {
            throw PictureError(.tooLarge, "The picture has more than 200 million pixels; add a smaller one.")
        }
        let (originalType, original) =
            keepsOriginal ? (type, bytes) : try self.original(bytes, type, orientation, stored)
        let isEnough = originalType == .jpeg && stored.longerSide <= limits.medium
        // Also where it is not kept: what can't be drawn here is not taken.
        let drawn = try jpeg(
            original, originalType, orientation, stored, to: stored.fitting(side: limits.medium), quality: 4)
        let upright = orientation > 4 ? stored.turned : stored
        return PreparedPicture(
            size: upright, type: originalType, original: original, medium: isEnough ? nil : drawn,
            thumbnail: try thumbnail(drawn, upright.fitting(side: limits.medium), limits), exif: exif)
    }

    /// What is kept of a file where it is not kept as it is: of the same file always the same.
    /// - Throws: `PictureError`.
    public func original(of bytes: [UInt8]) throws(PictureError) -> (type: PictureType, bytes: [UInt8]) {
        guard let type = PictureType(bytes), type.format != nil else { throw .damaged }
        let orientation = type == .jpeg ? Exif(bytes)?.orientation ?? 1 : 1
        return try original(bytes, type, orientation, try PictureSize(of: bytes, type))
    }

    private func original(
        _ bytes: [UInt8], _ type: PictureType, _ orientation: Int, _ size: PictureSize
    ) throws(PictureError) -> (type: PictureType, bytes: [UInt8]) {
        switch type {
        case .jpeg: (.jpeg, try Self.whole(JPEGSegments.stripped(bytes, orientation: orientation)))
        case .png: (.png, try Self.whole(PNGChunks.stripped(bytes)))
        default: (.jpeg, try jpeg(bytes, type, 1, size, to: size, quality: 2))
        }
    }

    private func thumbnail(_ drawn: [UInt8], _ size: PictureSize, _ limits: Limits) throws(PictureError) -> [UInt8] {
        var side = limits.thumbnail
        while side >= 32 {
            for quality in [4, 9, 16] {
                let made = try jpeg(drawn, .jpeg, 1, size, to: size.fitting(side: side), quality: quality)
                if made.count <= limits.thumbnailBytes { return made }
            }
            side = side * 3 / 4
        }
        throw .damaged
    }

    private static func whole(_ bytes: [UInt8]?) throws(PictureError) -> [UInt8] {
        guard let bytes else { throw .damaged }
        return bytes
    }

    // MARK: Drawing

    /// - Parameters:
    ///   - size: as stored.
    ///   - target: before it is turned.
    private func jpeg(
        _ bytes: [UInt8], _ type: PictureType, _ orientation: Int, _ size: PictureSize, to target: PictureSize,
        quality: Int
    ) throws(PictureError) -> [UInt8] {
        let filter = Self.filter(type, orientation, size, target) + "format=yuvj420p"
        let made = try process.run(
            Self.reading(type)
                + [
                    "-filter_complex", filter, "-frames:v", "1", "-map_metadata", "-1", "-c:v", "mjpeg", "-q:v",
                    String(quality), "-flags:v", "+bitexact", "-f", "image2pipe", "pipe:1",
                ], input: bytes)
        let turned = orientation > 4 ? target.turned : target
        guard JPEGSegments.size(of: made) == turned else { throw .damaged }
        return made
    }

    /// The pixels of a picture that was made here, 3 bytes each, as a terminal shows them.
    /// - Throws: `PictureError`.
    public func pixels(
        of bytes: [UInt8], fitting most: PictureSize
    ) throws(PictureError) -> (size: PictureSize, rgb: [UInt8]) {
        let (type, size, target, orientation) = try shown(bytes, most)
        let rgb = try process.run(
            Self.reading(type)
                + [
                    "-filter_complex", Self.filter(type, orientation, size, target) + "format=rgb24", "-frames:v", "1",
                    "-f", "rawvideo", "pipe:1",
                ], input: bytes)
        let turned = orientation > 4 ? target.turned : target
        guard rgb.count == turned.width * turned.height * 3 else { throw .damaged }
        return (turned, rgb)
    }

    /// The same as a PNG.
    /// - Throws: `PictureError`.
    public func png(of bytes: [UInt8], fitting most: PictureSize) throws(PictureError) -> [UInt8] {
        let (type, size, target, orientation) = try shown(bytes, most)
        let made = try process.run(
            Self.reading(type)
                + [
                    "-filter_complex", Self.filter(type, orientation, size, target) + "format=rgb24", "-frames:v", "1",
                    "-map_metadata", "-1", "-c:v", "png", "-flags:v", "+bitexact", "-f", "image2pipe", "pipe:1",
                ], input: bytes)
        guard PictureType(made) == .png else { throw .damaged }
        return made
    }

    private func shown(
        _ bytes: [UInt8], _ most: PictureSize
    ) throws(PictureError) -> (PictureType, PictureSize, target: PictureSize, orientation: Int) {
        guard let type = PictureType(bytes), type.format != nil else { throw .damaged }
        let size = try PictureSize(of: bytes, type)
        let orientation = type == .jpeg ? Exif(bytes)?.orientation ?? 1 : 1
        return (type, size, size.fitting(orientation > 4 ? most.turned : most), orientation)
    }

    private static func reading(_ type: PictureType) -> [String] {
        [
            "-hide_banner", "-nostdin", "-loglevel", "quiet", "-threads", "2", "-filter_complex_threads", "1",
            "-noautorotate", "-protocol_whitelist", "pipe", "-f", type.format ?? "", "-i", "pipe:0", "-an", "-sn",
            "-dn",
        ]
    }

    /// Scales, puts what is transparent on white, and rotates it upright; ends with a comma.
    private static func filter(
        _ type: PictureType, _ orientation: Int, _ size: PictureSize, _ target: PictureSize
    ) -> String {
        let scale = target == size ? "" : "scale=\(target.width):\(target.height):flags=area,"
        var filter = "[0:v:0]\(scale)"
        if type != .jpeg {
            filter =
                "color=c=white:s=\(target.width)x\(target.height)[paper];\(filter)format=rgba[ink];"
                + "[paper][ink]overlay=format=rgb:shortest=1,"
        }
        return filter + (rotations[orientation] ?? "")
    }

    /// Of Exif's orientations.
    private static let rotations = [
        2: "hflip,", 3: "hflip,vflip,", 4: "vflip,", 5: "transpose=0,", 6: "transpose=1,", 7: "transpose=3,",
        8: "transpose=2,",
    ]
}
