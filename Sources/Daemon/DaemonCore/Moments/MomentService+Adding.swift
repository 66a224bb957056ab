public import ControlAPI
import Foundation
import SealedFormats
import Sync

// Adds a moment with its photos in one transaction. After a crash before it, only content that is swept remains.
extension MomentService {
    /// - Throws: `ControlError`.
    public func add(_ request: NewMoment, peer: ControlPeer) async throws -> MomentReport {
        let keys = try await keys(peer)
        let id = try ItemID(requested: request.id)
        if let record = try await records.record(.moments, id) {
            // The moment was added before, and the reply was lost.
            return Self.report(Opened(record: record, body: try MomentBody(bytes: keys.open(record))))
        }
        try Self.check(request)
        guard let entry = keys.ring.current(.vault, vault: keys.vault) else {
            throw ControlError(.notReadable, "The vault's key is missing; import the backup it belongs to.")
        }
        let now = time.wallClock()
        var change = StateChange()
        var (photos, content) = ([MomentBody.Photo](), [ItemID]())
        for photo in request.photos {
            let (record, body) = try await sealed(photo, keys)
            let hash = PhotoHash.make(
                vaultKey: entry.key, epoch: entry.epoch, vault: keys.vault, digest: photo.digest)
            change.records.append(record)
            photos.append(.init(id: record.name.id, width: body.width, height: body.height, hash: hash))
            content += record.blobs
        }
        guard Set(content).count == content.count else {
            throw ControlError(.badRequest, "Each size of a photo has content of its own.")
        }
        let place = request.place.map {
            MomentBody.Place(name: $0.name, latitude: $0.latitude, longitude: $0.longitude)
        }
        let body = MomentBody(
            title: request.title, words: request.words, date: request.date, offset: request.offset, mood: request.mood,
            place: place, photos: photos, favourite: request.favourite, created: now, modified: now)
        // After the photos, so that other devices have them when they show it.
        let record = try keys.seal(body.bytes(), .moments, id, revision: 1)
        change.records.append(record)
        // Content is kept first: without a record it is swept, but a record without content stays incomplete.
        for id in content { try await blobs.keep(id) }
        try await write(change)
        return Self.report(Opened(record: record, body: body))
    }

    private func sealed(_ photo: NewPhoto, _ keys: VaultKeys) async throws -> (StoredRecord, PhotoBody) {
        guard let id = ItemID(photo.id), photo.digest.count == 32, let original = Self.size(photo.original),
            try await records.record(.photos, id) == nil
        else {
            throw ControlError(.badRequest, "A photo needs a fresh id, the hash of its file, and its content.")
        }
        var medium: PhotoBody.Size?
        if let given = photo.medium {
            guard let size = Self.size(given) else {
                throw ControlError(.badRequest, "The medium size of a photo needs content of its own.")
            }
            medium = size
        }
        let body = PhotoBody(
            width: photo.width, height: photo.height, taken: photo.taken, original: original, medium: medium,
            thumbnail: photo.thumbnail)
        var bytes = try body.bytes()
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        for size in [original] + (medium.map { [$0] } ?? []) {
            guard try await blobs.size(size.blob) == size.sealedSize, !(try await records.isOfRecord(blob: size.blob))
            else {
                throw ControlError(
                    .badRequest,
                    "The content of a photo is incomplete or belongs to another photo. Upload it as a blob first.")
            }
        }
        var record = try keys.seal(bytes, .photos, id, revision: 1)
        record.blobs = body.blobs
        return (record, body)
    }

    private static func size(_ size: PhotoSize) -> PhotoBody.Size? {
        ItemID(size.blob).map { PhotoBody.Size(type: size.type, size: size.size, key: size.key, blob: $0) }
    }

    private static func check(_ request: NewMoment) throws {
        guard request.title.utf8.count <= maximumTitle, request.mood.utf8.count <= maximumMood,
            request.place?.name?.utf8.count ?? 0 <= maximumTitle
        else {
            throw ControlError(
                .badRequest,
                "A title and a place have at most \(maximumTitle) bytes, a mood at most \(maximumMood).")
        }
        guard request.words.utf8.count <= maximumWords else {
            throw ControlError(
                .tooLarge, "A moment's words have at most 1 MiB; add longer texts with `applocker file add`.")
        }
        guard !request.title.isEmpty || !request.words.isEmpty || !request.photos.isEmpty else {
            throw ControlError(.badRequest, "A moment needs a title, words or a photo.")
        }
    }
}
