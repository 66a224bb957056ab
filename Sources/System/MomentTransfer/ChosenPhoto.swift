import Crypto
import FileLocking
public import Foundation
public import Pictures
import SealedFormats

/// A file to be added as a photo, read once.
public struct ChosenPhoto: Sendable {
    public let path: String
    public let bytes: [UInt8]
    /// SHA-256 of the file.
    public let digest: Data

    /// Blocks.
    /// - Throws: `TransferError` if the file can't be read or is too large.
    public init(_ path: String) throws {
        let file = try ReadableFile.named(path)
        guard file.size <= PhotoBody.maximumOriginal else {
            throw TransferError(
                .badInput, code: "too_large",
                "\(path) is larger than 50 MiB, the limit for a photo; add it with `applocker file add`.")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(file.size))
        while true {
            let piece = try file.read(at: UInt64(bytes.count), count: 4 << 20)
            if piece.isEmpty { break }
            bytes += piece
            guard bytes.count <= PhotoBody.maximumOriginal else {
                throw TransferError(.badInput, code: "too_large", "\(path) grows while it is read; try again.")
            }
        }
        self.path = path
        self.bytes = bytes
        digest = Data(SHA256.hash(data: bytes))
    }

    private static let limits = PictureMaker.Limits(
        medium: PhotoBody.mediumSide, thumbnail: PhotoBody.thumbnailSide, mediumBytes: PhotoBody.maximumMediumBytes,
        thumbnailBytes: PhotoBody.maximumThumbnail)

    /// Blocks.
    /// - Throws: `TransferError` that names the file.
    public func prepared(_ maker: PictureMaker, keepsOriginal: Bool) throws -> PreparedPicture {
        do {
            return try maker.prepare(bytes, keepsOriginal: keepsOriginal, limits: Self.limits)
        } catch {
            throw TransferError(
                error.code == .failed ? .failed : .badInput, code: error.code.rawValue, "\(path): \(error.sentence)")
        }
    }
}
