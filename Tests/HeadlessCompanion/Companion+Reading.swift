public import Foundation
public import Household
public import HubAPI
public import SealedFormats

// The data that a companion shows.
extension Companion {
    /// A computer, according to its last status.
    public struct Computer: Codable, Sendable {
        public var id: HubID
        public var status: ComputerStatus
        /// Events that the computer wrote and the hub does not return.
        public var missingEvents: Int
    }

    public struct Report: Codable, Sendable {
        public var device: HubID
        public var household: String
        public var computers: [Computer]
        public var devices: [HubID: String]
        /// The number of refused records.
        public var refused: Int
        public var misbehaviour: [String]
        public var epoch: UInt32
        public var cursor: UInt64
    }

    private func all<Body: Decodable>(_ collection: RecordCollection, _ type: Body.Type) -> [(
        record: HubRecord, body: Body
    )] {
        state.records.values.filter { $0.collection == collection.rawValue && $0.sealed != nil }
            .sorted { ($0.sequence ?? 0, $0.id) < ($1.sequence ?? 0, $1.id) }
            .compactMap { record in
                guard let checked = try? RecordCheck(roster).check(record, known: 0),
                    let body = try? secrets.open(checked, as: type)
                else { return nil }
                return (record, body)
            }
    }

    public func report() -> Report {
        Report(
            device: device, household: roster.household.description,
            computers: all(.status, ComputerStatus.self).map { record, status in
                Computer(id: record.id, status: status, missingEvents: state.chains[record.id]?.missing ?? 0)
            },
            devices: Dictionary(
                uniqueKeysWithValues: all(.devices, DeviceName.self).filter { roster.member($0.record.id.item) != nil }
                    .map { ($0.record.id, $0.body.name) }),
            refused: state.refused, misbehaviour: state.misbehaviour, epoch: secrets.epoch, cursor: state.cursor)
    }

    /// Oldest first.
    public func events() -> [HouseholdEvent] { all(.events, HouseholdEvent.self).map(\.body) }

    /// Pending launches, as far as this companion has received them.
    public func requests() -> [LaunchRequest] {
        all(.requests, LaunchRequest.self).map(\.body).filter { request in
            let now = state.clocks[request.computer]?.now(clock()) ?? clock()
            return request.outcome == nil && request.expires > now
        }
    }

    public func apps() -> [HubID: [RemoteApp]] { lists().mapValues(\.apps) }

    /// 0 where there is no such record.
    public func revision(of collection: RecordCollection, _ id: HubID) -> UInt64 {
        state.records[Self.key(collection.rawValue, id)]?.revision ?? 0
    }

    /// By computer.
    public func icons() -> [HubID: ComputerIcons] {
        Dictionary(uniqueKeysWithValues: all(.icons, ComputerIcons.self).map { ($0.record.id, $0.body) })
    }

    /// The lists by computer.
    public func lists() -> [HubID: ComputerApps] {
        Dictionary(uniqueKeysWithValues: all(.apps, ComputerApps.self).map { ($0.record.id, $0.body) })
    }

    // MARK: Notes

    public struct Note: Codable, Sendable {
        public var id: HubID
        public var revision: UInt64
        public var title: String
        public var body: String
    }

    private func vaultKey(_ vault: ItemID, epoch: UInt32) throws -> SecretBytes {
        guard let key = secrets.ring.key(.vault, vault: vault, epoch: epoch) else {
            throw CompanionError("This device has no key of the vault; pair it again.")
        }
        return key
    }

    /// The record was checked when it was received; its author may have been revoked since.
    private func note(_ record: HubRecord) throws -> Note {
        let name = RecordName(
            vault: record.vault.item, collection: .notes, id: record.id.item, revision: record.revision)
        let envelope = try RecordEnvelope(bytes: [UInt8](record.sealed ?? Data()))
        let key = try vaultKey(name.vault, epoch: envelope.wrapEpoch)
        let note = try JSONDecoder().decode(SealedNote.self, from: try envelope.open(as: name, vaultKey: key))
        return Note(id: record.id, revision: record.revision, title: note.title, body: note.body)
    }

    /// By title, without notes whose vault's key this device doesn't have (yet) and those that can't be opened.
    public func notes() throws -> [Note] {
        let vaults = Set(secrets.ring.entries.filter { $0.kind == .vault }.map { HubID($0.vault) })
        return state.records.values
            .filter { $0.collection == "notes" && $0.sealed != nil && vaults.contains($0.vault) }
            .compactMap { try? note($0) }
            .sorted { ($0.title, $0.id) < ($1.title, $1.id) }
    }

    /// Writes a note, a new one if no id is given.
    /// - Throws: `CompanionError` if it was changed on another device meanwhile.
    public func write(title: String, body: String, to id: HubID? = nil) async throws -> Note {
        let known = id.flatMap { state.records[Self.key("notes", $0)] }
        if id != nil, known == nil { throw CompanionError("There is no such note.") }
        guard let vault = known?.vault.item ?? mainVault, let entry = secrets.ring.current(.vault, vault: vault) else {
            throw CompanionError("This device has no key of the vault; pair it again.")
        }
        let now = Double(clock()) / 1_000
        let content = SealedNote(title: title, body: body, created: now, modified: now)
        let name = RecordName(
            vault: vault, collection: .notes, id: id?.item ?? .random(), revision: (known?.revision ?? 0) + 1)
        let envelope = try RecordEnvelope(
            sealing: try JSONEncoder().encode(content), as: name, vaultKey: entry.key, epoch: entry.epoch)
        try await send(secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes))
        return Note(id: HubID(name.id), revision: name.revision, title: title, body: body)
    }

    public func removeNote(_ id: HubID) async throws {
        guard let known = state.records[Self.key("notes", id)] else { throw CompanionError("There is no such note.") }
        let name = RecordName(
            vault: known.vault.item, collection: .notes, id: id.item, revision: known.revision + 1)
        try await send(secrets.sign(name, epoch: known.epoch, sealed: nil))
    }

    /// New notes are added to the main vault of the computer that invited this device, or of another one if that was
    /// removed.
    private var mainVault: ItemID? {
        if roster.isPhoneFounded { return EpochKeys.vault(of: roster.household) }
        let computers = all(.status, ComputerStatus.self)
        let first = computers.first { $0.record.id.item == state.computer && $0.body.vault != nil }
        return (first ?? computers.first { $0.body.vault != nil })?.body.vault?.item
            ?? secrets.ring.entries.last { $0.kind == .vault }?.vault
    }

    func send(_ record: HubRecord) async throws {
        let outcome = try await hub.write([record])[0]
        if outcome.conflict != nil {
            throw CompanionError("It was changed elsewhere meanwhile. Sync, and make the change again.")
        }
        if let error = outcome.error { throw error }
        var stored = record
        stored.sequence = outcome.sequence
        state.records[Self.key(record.collection, record.id)] = stored
        try save()
    }

    // MARK: Photos

    /// An intruder photo's picture, a JPEG.
    public func photo(_ id: HubID) async throws -> Data {
        struct Content: Decodable { var contentKey: Data }
        guard let record = state.records[Self.key("intruders", id)] else {
            throw CompanionError("There is no such photo.")
        }
        let checked = try RecordCheck(roster).check(record, known: 0)
        guard let sealed = checked.sealed,
            let inbox = secrets.ring.key(.inbox, vault: checked.name.vault, epoch: checked.epoch)
        else { throw CompanionError("This device has no key of the photos; pair it again.") }
        let body = try PublicKeyBox.open(sealed, as: checked.name, with: BoxKeyPair(privateKey: inbox))
        var content = try JSONDecoder().decode(Content.self, from: body)
        let key = content.contentKey.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
        let size = try await hub.blobState(id).size
        var blob: [UInt8] = []
        while UInt64(blob.count) < size {
            let piece = try await hub.readBlob(
                id, offset: UInt64(blob.count), length: Int(min(size - UInt64(blob.count), 1 << 20)))
            guard !piece.isEmpty else { throw CompanionError("The hub returned an incomplete photo.") }
            blob += piece
        }
        let stream = try ContentStream(
            opening: Array(blob.prefix(ContentStream.headerLength)),
            name: .init(vault: checked.name.vault, collection: .intruders, id: checked.name.id), key: key)
        let layout = try ContentStream.Layout(sealedSize: size, chunkSize: stream.chunkSize)
        var photo = Data()
        for index in 0..<layout.chunkCount {
            let range = layout.range(ofChunk: index)
            let chunk = blob[Int(range.lowerBound)..<Int(range.lowerBound) + range.count]
            photo += try stream.open(Array(chunk), index: UInt32(index), isLast: index == layout.chunkCount - 1)
        }
        return photo
    }
}
