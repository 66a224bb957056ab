public import ControlAPI
import Foundation
import Policy
import SealedFormats
import Sync

/// Takes photos after wrong passcodes. Each photo is sealed to the inbox key at once, so that the computer itself can't
/// open it while the vault is locked.
public actor IntruderService {
    /// The content that is sealed to the inbox key.
    struct Content: Codable {
        /// Seconds since 1970.
        var time: Double
        var app: String?
        var user: UInt32?
        var failures: Int
        /// The photo's size in bytes.
        var size: Int
        /// Opens the stream of the blob with the record's id.
        var contentKey: Data
    }

    private let records: any RecordStore
    private let blobs: any BlobStore
    private let vault: VaultService
    private let passcodes: PasscodeService
    private let makeCamera: @Sendable (_ input: String) -> any PhotoSource
    private let device: ItemID
    private let time: any TimeSource
    private let log: ActivityLog
    private let events: AsyncStream<DaemonEvent>
    /// At most one photo at a time; it also covers further attempts meanwhile.
    private var shot: Task<Void, Never>?

    init(
        records: any RecordStore, blobs: any BlobStore, vault: VaultService, passcodes: PasscodeService,
        makeCamera: @escaping @Sendable (String) -> any PhotoSource, device: ItemID, time: any TimeSource,
        events: DaemonEvents, log: ActivityLog
    ) {
        self.events = events.subscribe()
        self.records = records
        self.blobs = blobs
        self.vault = vault
        self.passcodes = passcodes
        self.makeCamera = makeCamera
        self.device = device
        self.time = time
        self.log = log
    }

    /// Takes photos for as long as the daemon runs.
    func followWrongPasscodes() async {
        for await event in events {
            guard case .wrongPasscode(let failures, let app, let user) = event else { continue }
            await noticeWrongPasscode(failures: failures, app: app, user: user)
        }
    }

    /// Returns at once; the photo is taken meanwhile.
    private func noticeWrongPasscode(failures: Int, app: AppID?, user: UInt32) async {
        let settings = await vault.settings
        guard settings.photographsFromFailure > 0, failures >= settings.photographsFromFailure, shot == nil else {
            return
        }
        let moment = time.wallClock()
        shot = Task {
            await photograph(at: moment, failures: failures, app: app, user: user, camera: settings.camera)
            shot = nil
        }
    }

    /// Returns when no photo is being taken.
    func finish() async { await shot?.value }

    private func photograph(at moment: Double, failures: Int, app: AppID?, user: UInt32, camera: String) async {
        do {
            let photo = try await makeCamera(camera).photograph()
            let record = try await keep(
                photo,
                Content(
                    time: moment, app: app?.rawValue, user: user, failures: failures, size: photo.count,
                    contentKey: Data()))
            await log.append(
                .intruderPhotographed, app: app, user: user, photo: record,
                failures == 1
                    ? "A photo was taken after a wrong passcode."
                    : "A photo was taken after \(failures) wrong passcodes.")
        } catch {
            await log.append(.intruderMissed, app: app, user: user, "No photo could be taken: \(error)")
        }
    }

    /// Takes a photo at the owner's request from another device.
    /// - Returns: its record.
    /// - Throws: `ControlError` with `failed`.
    func takePhoto() async throws -> ItemID {
        let camera = await vault.settings.camera
        do {
            let photo = try await makeCamera(camera).photograph()
            let record = try await keep(
                photo,
                Content(
                    time: time.wallClock(), app: nil, user: nil, failures: 0, size: photo.count, contentKey: Data()))
            guard let record else { throw ControlError.noVault }
            await log.append(.intruderPhotographed, photo: record, "A photo was taken on request of a phone.")
            return record
        } catch let error as PhotoSourceError {
            throw ControlError(.failed, "No photo could be taken: \(error.sentence)")
        }
    }

    /// - Returns: the record; nil where there is no vault yet.
    private func keep(_ photo: [UInt8], _ content: Content) async throws -> ItemID? {
        guard let document = try await passcodes.vaultDocument() else { return nil }
        let id = ItemID.random()
        let contentKey = SecretBytes.random(count: ContentStream.keyLength)
        let stream = ContentStream(
            sealing: .init(vault: document.vault, collection: .intruders, id: id), key: contentKey,
            chunkSize: .kibi64)
        var sealed = stream.header
        let layout = ContentStream.Layout(contentSize: UInt64(photo.count), chunkSize: stream.chunkSize)
        for index in 0..<layout.chunkCount {
            let start = Int(index) * stream.chunkSize.bytes
            sealed += stream.seal(
                photo[start..<min(start + stream.chunkSize.bytes, photo.count)], index: UInt32(index),
                isLast: index == layout.chunkCount - 1)
        }
        var content = content
        content.contentKey = contentKey.withUnsafeBytes { Data($0) }
        let name = RecordName(vault: document.vault, collection: .intruders, id: id, revision: 1)
        let box = try PublicKeyBox.seal(
            JSONEncoder().encode(content), as: name, to: BoxPublicKey(bytes: Array(document.inboxPublicKey)))
        for offset in stride(from: 0, to: sealed.count, by: ControlRoute.maximumBlobPiece) {
            let piece = sealed[offset..<min(offset + ControlRoute.maximumBlobPiece, sealed.count)]
            try await blobs.put(id, offset: UInt64(offset), bytes: Array(piece))
        }
        try await blobs.keep(id)
        try await records.write(
            StateChange(records: [
                StoredRecord(name: name, epoch: document.inboxEpoch, author: device, sealed: box, blobs: [id])
            ]))
        return id
    }

    // MARK: The owner

    /// Newest first.
    public func list(peer: ControlPeer) async throws -> IntruderList {
        let keys = try await vault.keys(for: peer)
        let stored = try await records.records(in: .intruders)
        let reports = stored.compactMap { record in
            (try? Self.content(of: record, keys)).map { Self.report(record, $0) }
        }
        return IntruderList(
            intruders: reports.sorted { ($0.time, $0.id) > ($1.time, $1.id) },
            unreadable: stored.count - reports.count)
    }

    public func read(_ reference: String, peer: ControlPeer) async throws -> IntruderPhoto {
        let keys = try await vault.keys(for: peer)
        let record = try await find(reference)
        let content = try Self.content(of: record, keys)
        let id = record.name.id
        guard let size = try await blobs.size(id) else {
            throw ControlError(.noSuchItem, "The photo itself is missing; only its record is left.")
        }
        let header = try await blobs.read(id, offset: 0, length: ContentStream.headerLength)
        let key = content.contentKey.withUnsafeBytes { SecretBytes(copying: $0) }
        let stream = try ContentStream(
            opening: header, name: .init(vault: record.name.vault, collection: .intruders, id: id), key: key)
        let layout = try ContentStream.Layout(sealedSize: size, chunkSize: stream.chunkSize)
        var photo = Data()
        for index in 0..<layout.chunkCount {
            let range = layout.range(ofChunk: index)
            let chunk = try await blobs.read(id, offset: range.lowerBound, length: range.count)
            photo += try stream.open(chunk, index: UInt32(index), isLast: index == layout.chunkCount - 1)
        }
        return IntruderPhoto(intruder: Self.report(record, content), photo: photo)
    }

    public func remove(_ reference: String, peer: ControlPeer) async throws {
        let keys = try await vault.keys(for: peer)
        try await remove(StateChange(records: [keys.removed(find(reference))]))
    }

    /// Removes a photo at the request of another device, which needs no key.
    /// - Throws: `ControlError` with `noSuchItem`.
    func remove(_ id: ItemID, requestedBy requester: ItemID) async throws {
        guard let record = try await records.record(.intruders, id), record.sealed != nil else {
            throw ControlError(.noSuchItem, "There is no such photo.")
        }
        var change = StateChange(records: [record.removed(by: device)])
        change.requester = Requester(device: requester, time: time.wallClock())
        try await remove(change)
    }

    /// Removes photos that are older than alerts are kept. Failures are tried again at the next opening.
    func purge(_ keys: VaultKeys) async {
        let end = time.wallClock() - Double(await vault.settings.alertDays) * 86_400
        let stored = (try? await records.records(in: .intruders)) ?? []
        let over = stored.filter { ((try? Self.content(of: $0, keys))?.time ?? .infinity) < end }
        if !over.isEmpty { try? await remove(StateChange(records: over.map { keys.removed($0) })) }
    }

    private func remove(_ change: StateChange) async throws {
        try await records.write(change)
        for record in change.records { try await records.removeUnnamed(record.name.id, from: blobs) }
    }

    private func find(_ reference: String) async throws -> StoredRecord {
        try await ItemReference(text: reference, kind: .intruderPhoto).find(in: records, .intruders)
    }

    /// When it was taken, in seconds since 1970; nil if the body is not a photo's.
    static func time(in body: Data) -> Double? { (try? JSONDecoder().decode(Content.self, from: body))?.time }

    private static func content(of record: StoredRecord, _ keys: VaultKeys) throws -> Content {
        try JSONDecoder().decode(Content.self, from: keys.open(record))
    }

    private static func report(_ record: StoredRecord, _ content: Content) -> IntruderReport {
        IntruderReport(
            id: record.name.id.description, time: content.time, app: content.app, user: content.user,
            failures: content.failures, size: content.size)
    }
}
