public import ControlAPI
import Foundation
import SealedFormats
import Sync

/// Moments with their photos. Clients seal the photos' content, which this service only stores; a photo's record holds
/// its keys.
public actor MomentService {
    /// In bytes of UTF-8.
    static let maximumTitle = 1_000
    static let maximumMood = 64
    static let maximumWords = 1 << 20

    /// A moment and where it is stored.
    struct Opened: Sendable {
        let record: StoredRecord
        var body: MomentBody
    }

    let records: any RecordStore
    let blobs: any BlobStore
    /// Refuses a user for whom the vault is not open.
    let keys: @Sendable (ControlPeer) async throws -> VaultKeys
    let time: any TimeSource

    init(
        records: any RecordStore, blobs: any BlobStore, time: any TimeSource,
        keys: @escaping @Sendable (ControlPeer) async throws -> VaultKeys
    ) {
        self.records = records
        self.blobs = blobs
        self.keys = keys
        self.time = time
    }

    // MARK: Looking

    /// Newest first.
    /// - Throws: `ControlError`.
    public func list(_ filter: MomentFilter, peer: ControlPeer) async throws -> MomentList {
        let days = try [filter.from, filter.to].map { try $0.map(Self.day) }
        let words = (filter.search?.split(whereSeparator: \.isWhitespace) ?? []).map { NoteText.folded(String($0)) }
        let (moments, unreadable) = try await all(try await keys(peer))
        let found = moments.filter { moment in
            let (body, day) = (moment.body, LocalDay(date: moment.body.date, offset: moment.body.offset))
            guard (body.removed != nil) == filter.trash, !filter.favourites || body.favourite,
                filter.mood.map({ $0 == body.mood }) ?? true, days[0].map({ $0 <= day }) ?? true,
                days[1].map({ day <= $0 }) ?? true
            else { return false }
            return words.isEmpty || Self.holds(body, day, words)
        }
        return MomentList(
            moments: found.map(Self.report).sorted {
                ($0.date, $0.created, $1.id) > ($1.date, $1.created, $0.id)
            }, unreadable: unreadable)
    }

    private static func day(_ text: String) throws -> LocalDay {
        guard let day = LocalDay(text) else {
            throw ControlError(.badRequest, "A day is written as in 2024-05-17.")
        }
        return day
    }

    private static func holds(_ body: MomentBody, _ day: LocalDay, _ words: [[UInt8]]) -> Bool {
        let text = [body.title, body.words, body.mood, body.place?.name ?? "", day.text].joined(separator: "\n")
        return NoteText.folded(text).withUnsafeBytes { text in words.allSatisfy { NoteText.contains(text, $0) } }
    }

    /// Every moment of the vaults with a key here, and how many of them do not open. Moments of other vaults are
    /// ignored.
    func all(_ keys: VaultKeys) async throws -> (moments: [Opened], unreadable: Int) {
        var (moments, unreadable) = ([Opened](), 0)
        for record in try await records.records(in: .moments)
        where keys.ring.current(.vault, vault: record.name.vault) != nil {
            if let body = try? MomentBody(bytes: keys.open(record)) {
                moments.append(Opened(record: record, body: body))
            } else {
                unreadable += 1
            }
        }
        return (moments, unreadable)
    }

    public func read(_ reference: String, peer: ControlPeer) async throws -> MomentContent {
        let moment = try await find(reference, try await keys(peer))
        return MomentContent(moment: Self.report(moment), words: moment.body.words)
    }

    /// The keys and blobs of a photo.
    public func photo(_ text: String, peer: ControlPeer) async throws -> PhotoReport {
        let keys = try await keys(peer)
        guard let id = ItemID(text), let record = try await records.record(.photos, id), record.sealed != nil else {
            throw ControlError(.noSuchItem, "There is no such photo. `applocker moments show` lists a moment's.")
        }
        let body = try PhotoBody(bytes: keys.open(record), blobs: record.blobs)
        func size(_ size: PhotoBody.Size) -> PhotoSize {
            PhotoSize(type: size.type, size: size.size, key: size.key, blob: size.blob.description)
        }
        return PhotoReport(
            id: text, vault: record.name.vault.description, width: body.width, height: body.height, taken: body.taken,
            original: size(body.original), medium: body.medium.map(size), thumbnail: body.thumbnail)
    }

    /// Finds the moments that already contain these files, also in the trash.
    public func known(_ request: KnownPhotosRequest, peer: ControlPeer) async throws -> KnownPhotos {
        guard request.digests.count <= 1_000, request.digests.allSatisfy({ $0.count == 32 }) else {
            throw ControlError(.badRequest, "A request has at most 1,000 hashes of 32 bytes.")
        }
        let keys = try await keys(peer)
        var places: [String: KnownPhotos.Place] = [:]
        for moment in try await all(keys).moments where moment.record.name.vault == keys.vault {
            let isInTrash = moment.body.removed != nil
            for photo in moment.body.photos where places[photo.hash]?.isInTrash != false {
                places[photo.hash] = KnownPhotos.Place(
                    moment: moment.record.name.id.description, photo: photo.id.description, isInTrash: isInTrash)
            }
        }
        let epochs = Set(places.keys.compactMap { PhotoHash.epoch(of: $0) })
        let vaultKeys = epochs.compactMap { epoch in
            keys.ring.key(.vault, vault: keys.vault, epoch: epoch).map { (epoch, $0) }
        }
        return KnownPhotos(
            places: request.digests.map { digest in
                for (epoch, key) in vaultKeys {
                    let hash = PhotoHash.make(vaultKey: key, epoch: epoch, vault: keys.vault, digest: digest)
                    if let place = places[hash] { return place }
                }
                return nil
            })
    }

    // MARK: Changing

    /// Sets whether a moment is a favourite, or in the trash.
    public func change(
        _ reference: String, _ request: ChangeMomentRequest, peer: ControlPeer
    ) async throws -> MomentReport {
        let keys = try await keys(peer)
        let moment = try await find(reference, keys)
        var body = moment.body
        if let favourite = request.favourite { body.favourite = favourite }
        if let removed = request.removed { body.removed = removed ? body.removed ?? time.wallClock() : nil }
        guard body != moment.body else { return Self.report(moment) }
        body.modified = time.wallClock()
        let name = moment.record.name
        let record = try keys.seal(
            body.bytes(), .moments, name.id, revision: name.revision + 1, in: name.vault)
        var change = StateChange(records: [record])
        change.replaced[record.name] = RecordStamp(of: moment.record)
        try await write(change)
        return Self.report(Opened(record: record, body: body))
    }

    /// Removes a moment permanently, with the photos that no other moment names.
    public func remove(_ reference: String, peer: ControlPeer) async throws -> MomentReport {
        let keys = try await keys(peer)
        let moment = try await find(reference, keys)
        try await erase([moment], keys)
        return Self.report(moment)
    }

    /// Removes moments that were in the trash for 30 days. Failures are tried again at the next opening.
    func purge(_ keys: VaultKeys) async {
        let end = time.wallClock() - MomentBody.trashSeconds
        let over = (try? await all(keys).moments.filter { $0.body.removed ?? .infinity < end }) ?? []
        if !over.isEmpty { try? await erase(over, keys) }
    }

    private func erase(_ moments: [Opened], _ keys: VaultKeys) async throws {
        let gone = Set(moments.map(\.record.name.id))
        let others = try await all(keys).moments.filter { !gone.contains($0.record.name.id) }
        let kept = Set(others.flatMap { $0.body.photos.map(\.id) })
        var change = StateChange()
        for moment in moments {
            let tombstone = keys.removed(moment.record)
            change.records.append(tombstone)
            change.replaced[tombstone.name] = RecordStamp(of: moment.record)
        }
        var content: [ItemID] = []
        for id in Set(moments.flatMap { $0.body.photos.map(\.id) }).subtracting(kept) {
            guard let photo = try await records.record(.photos, id), photo.sealed != nil else { continue }
            change.records.append(keys.removed(photo))
            content += photo.blobs
        }
        try await write(change)
        for id in content { try? await records.removeUnnamed(id, from: blobs) }
    }

    // MARK: Pieces

    func write(_ change: StateChange) async throws {
        try await records.write(change) {
            "The moment could not be written (\($0)). Free some disk space and try again."
        }
    }

    private func find(_ reference: String, _ keys: VaultKeys) async throws -> Opened {
        let record = try await ItemReference(text: reference, kind: .moment).find(in: records, .moments) { all in
            all.filter { (try? MomentBody(bytes: keys.open($0)))?.title == reference }
        }
        return Opened(record: record, body: try MomentBody(bytes: keys.open(record)))
    }

    static func report(_ moment: Opened) -> MomentReport {
        let (name, body) = (moment.record.name, moment.body)
        return MomentReport(
            id: name.id.description, revision: name.revision, title: body.title, date: body.date, offset: body.offset,
            mood: body.mood,
            place: body.place.map { MomentPlace(name: $0.name, latitude: $0.latitude, longitude: $0.longitude) },
            photos: body.photos.map {
                .init(
                    id: $0.id.description, width: $0.width, height: $0.height,
                    kind: $0.kind.flatMap(RecordingKind.init(rawValue:)), duration: $0.duration)
            },
            favourite: body.favourite, created: body.created, modified: body.modified, removed: body.removed)
    }
}
