import BlockingThread
public import ControlAPI
import FileLocking
import Foundation
public import LocalControl
public import Pictures
public import SealedFormats
import VaultTransfer

/// Seals the sizes of a photo and sends the sealed bytes to AppLocker, which never sees the picture.
public struct PhotoUpload: Sendable {
    private let client: ControlClient
    private let vault: ItemID

    public init(client: ControlClient, vault: ItemID) {
        self.client = client
        self.vault = vault
    }

    public func run(_ picture: PreparedPicture, of photo: ChosenPhoto) async throws -> NewPhoto {
        let id = ItemID.random()
        let original = try await put(picture.original, as: picture.type.rawValue, of: id)
        var medium: PhotoSize?
        if let bytes = picture.medium { medium = try await put(bytes, as: PictureType.jpeg.rawValue, of: id) }
        return NewPhoto(
            id: id.description, digest: photo.digest, width: picture.size.width, height: picture.size.height,
            taken: MomentTime(picture.exif)?.date, original: original, medium: medium,
            thumbnail: Data(picture.thumbnail))
    }

    private func put(_ bytes: [UInt8], as type: String, of id: ItemID) async throws -> PhotoSize {
        let (blob, key) = (ItemID.random(), SecretBytes.random(count: ContentStream.keyLength))
        let stream = ContentStream(sealing: .init(vault: vault, collection: .photos, id: id), key: key)
        let layout = ContentStream.Layout(contentSize: UInt64(bytes.count), chunkSize: stream.chunkSize)
        var (offset, waiting) = (UInt64(0), stream.header)
        for index in 0..<layout.chunkCount {
            try Task.checkCancellation()
            let start = Int(index) * stream.chunkSize.bytes
            let chunk = bytes[start..<min(start + stream.chunkSize.bytes, bytes.count)]
            waiting += stream.seal(chunk, index: UInt32(index), isLast: index == layout.chunkCount - 1)
            let isLast = index == layout.chunkCount - 1
            while waiting.count >= ControlRoute.maximumBlobPiece || (isLast && !waiting.isEmpty) {
                let piece = Array(waiting.prefix(ControlRoute.maximumBlobPiece))
                try await client.putBlob(blob.description, offset: offset, bytes: piece)
                offset += UInt64(piece.count)
                waiting.removeFirst(piece.count)
            }
        }
        return PhotoSize(
            type: type, size: bytes.count, key: key.withUnsafeBytes { Data($0) }, blob: blob.description)
    }

    /// Removes content without a record at once, instead of waiting for the periodic cleanup. Also after a
    /// cancellation, for which it has a task of its own.
    public func discard(_ photos: [NewPhoto]) async {
        let blobs = photos.flatMap { [$0.original.blob] + ($0.medium.map { [$0.blob] } ?? []) }
        await Task { [client] in
            for blob in blobs { _ = try? await client.call(\.removeBlob, parameter: blob) }
        }.value
    }
}

/// Fetches the sealed bytes of a photo's size and opens them in memory.
public struct PhotoDownload: Sendable {
    private let client: ControlClient
    private let photo: PhotoReport

    public init(client: ControlClient, photo: PhotoReport) {
        self.client = client
        self.photo = photo
    }

    /// A JPEG of at most 2,048 pixels.
    public func medium() async throws -> [UInt8] { try await open(photo.medium ?? photo.original) }

    /// The photo as it was stored.
    public func original() async throws -> [UInt8] { try await open(photo.original) }

    private func open(_ size: PhotoSize) async throws -> [UInt8] {
        guard size.size <= PhotoBody.maximumOriginalBytes else { throw Self.damaged }
        let opened = OpenedPhoto()
        try await run(size) { opened.bytes += $0 }
        return opened.bytes
    }

    /// - Parameter write: called with each authenticated piece in order, on a thread of its own.
    fileprivate func run(_ size: PhotoSize, write: @escaping @Sendable (Data) throws -> Void) async throws {
        guard let vault = ItemID(photo.vault), let id = ItemID(photo.id),
            1...PhotoBody.maximumRecordingBytes ~= size.size
        else { throw Self.damaged }
        let layout = ContentStream.Layout(contentSize: UInt64(size.size), chunkSize: .mebi1)
        let length = OpenedLength()
        try await SealedDownload(
            client: client, blob: size.blob, name: .init(vault: vault, collection: .photos, id: id), key: size.key,
            sealedSize: layout.sealedSize
        ).run {
            length.bytes += $0.count
            try write($0)
        }
        guard length.bytes == size.size else { throw Self.damaged }
    }

    private static var damaged: ControlError {
        ControlError(.notReadable, "The photo is damaged; restore it from a backup.")
    }
}

extension PhotoDownload {
    /// The largest size of a photo that could be opened on this computer, as a file.
    struct Written {
        let report: PhotoReport
        let size: PhotoSize
        let path: String

        /// Whether the photo as it was stored can't be opened.
        var isReduced: Bool { size.blob != report.original.blob }
    }

    /// Writes it piece by piece, so that a recording is never in memory as a whole.
    ///
    /// - Parameter path: of the new file, for a size.
    /// - Returns: nil if no size can be opened.
    /// - Throws: `TransferError` if it can't be written, and `ControlError`, `ControlClientError` and
    ///   `CancellationError` that concern more than this photo.
    static func writeLargest(
        of id: String, _ client: ControlClient, to path: (PhotoReport, PhotoSize) async throws -> String
    ) async throws -> Written? {
        guard let report = try await readable({ try await client.call(\.readPhoto, parameter: id) }) else { return nil }
        let download = PhotoDownload(client: client, photo: report)
        for size in [report.original] + (report.medium.map { [$0] } ?? []) {
            let path = try await path(report, size)
            let file = try await runBlocking { try NewFile(path) }
            defer { file.discard() }
            guard try await readable({ try await download.run(size) { try file.write(Array($0)) } }) != nil else {
                continue
            }
            try await runBlocking { try file.finish() }
            return Written(report: report, size: size, path: path)
        }
        return nil
    }

    /// - Returns: nil if it is not on this computer and the hub can't send it, can't be read, or is damaged.
    private static func readable<Value>(_ read: () async throws -> Value) async throws -> Value? {
        do {
            return try await read()
        } catch let error as ControlError where [.noSuchItem, .notReadable, .hub, .failed].contains(error.code) {
            return nil
        } catch is SealedFormatsError {
            return nil
        } catch let error as FileLockingError where error.code == .damaged {
            return nil
        }
    }
}

/// `@unchecked Sendable`: pieces are counted one by one.
private final class OpenedLength: @unchecked Sendable {
    var bytes = 0
}

/// `@unchecked Sendable`: pieces are added one by one.
private final class OpenedPhoto: @unchecked Sendable {
    var bytes: [UInt8] = []
}
