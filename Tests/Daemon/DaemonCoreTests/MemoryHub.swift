import Foundation
import Household
import HubAPI
import SealedFormats
import Synchronization

/// A hub in memory that follows the protocol.
///
/// Sendable because its state is one `Mutex`.
final class MemoryHub: Sendable {
    struct Device {
        var role: HubDeviceRole
        var isActive: Bool
        var tokenHash: Data
    }

    struct State {
        var household: HubID?
        var eventDays = 30
        /// Of every device, in seconds since 1970.
        var lastSeen: UInt64?
        /// The subscriptions that each push is sent to.
        var subscriptions = 0
        var roster: [Data] = []
        var devices: [HubID: Device] = [:]
        /// The number of roster entries that each revoked device is served, by the hash of its former token.
        var revoked: [Data: Int] = [:]
        var invitations: [HubID: (proofHash: Data, join: JoinRequest?)] = [:]
        var records: [HubRecord] = []
        /// The names of all records ever written: most writes are new, and a search of `records` is slow.
        var names: Set<String> = []
        var sequence: UInt64 = 0
        var generations = [HubGeneration(id: HubID(ItemID.random()), after: 0)]
        /// Devices that can't reach the hub.
        var unreachable: Set<HubID> = []
        var blobs: [HubID: (size: UInt64, bytes: [UInt8])] = [:]
        var pushes: [PushMessageRequest] = []
        var isDown = false
        var writes = 0
        var streams: [Int: (device: HubID, items: AsyncThrowingStream<HubStreamItem, any Error>.Continuation)] = [:]
        var nextStream = 0
    }

    let state = Mutex(State())

    /// The connection of the device with this token.
    func connection(_ token: SecretBytes?) -> any HubConnection {
        Connection(hub: self, tokenHash: token.map { HouseholdSecrets.hash(of: $0) })
    }

    var records: [HubRecord] { state.withLock { $0.records } }

    func records(in collection: String) -> [HubRecord] { records.filter { $0.collection == collection } }

    /// While the hub is down it ends every stream and answers nothing.
    func setDown(_ isDown: Bool) {
        let streams = state.withLock { state in
            state.isDown = isDown
            defer { if isDown { state.streams = [:] } }
            return isDown ? Array(state.streams.values) : []
        }
        for stream in streams { stream.items.finish(throwing: HubUnreachable(.offline, "The hub is down.")) }
    }

    // MARK: Restoring

    /// A backup of the hub's store.
    func backup() -> State { state.withLock { $0 } }

    /// Restores the store, which starts a new generation.
    func restore(_ backup: State) {
        setDown(true)
        state.withLock { state in
            let unreachable = state.unreachable
            state = backup
            (state.streams, state.unreachable, state.isDown) = ([:], unreachable, false)
            state.generations.append(HubGeneration(id: HubID(ItemID.random()), after: state.sequence))
        }
    }

    /// A device can't reach the hub until it is set reachable again.
    func setUnreachable(_ device: HubID, _ isUnreachable: Bool) {
        state.withLock { state in
            if isUnreachable { state.unreachable.insert(device) } else { state.unreachable.remove(device) }
        }
        for stream in silence(device) { stream.finish(throwing: HubUnreachable(.offline, "There is no network.")) }
    }

    /// The streams of a device, or of all, stay open and deliver nothing until they are ended.
    func silence(_ device: HubID? = nil) -> [AsyncThrowingStream<HubStreamItem, any Error>.Continuation] {
        state.withLock { state in
            let silenced = state.streams.filter { device == nil || $0.value.device == device }
            for number in silenced.keys { state.streams[number] = nil }
            return silenced.values.map(\.items)
        }
    }

    /// Sends an item to all streams, or to those of one device.
    func stream(_ item: HubStreamItem, to device: HubID? = nil) {
        let streams = state.withLock { $0.streams.values.filter { device == nil || $0.device == device } }
        for stream in streams { stream.items.yield(item) }
    }

    private struct Connection: HubConnection {
        let hub: MemoryHub
        let tokenHash: Data?

        private var device: HubID? {
            hub.state.withLock { state in state.devices.first { $0.value.tokenHash == tokenHash }?.key }
        }

        private func requireReachable() throws {
            let device = device
            let isReachable = hub.state.withLock { state in
                !state.isDown && !(device.map { state.unreachable.contains($0) } ?? false)
            }
            guard isReachable else { throw HubUnreachable(.offline, "The hub is down.") }
        }

        func send(_ request: HubRequest) async throws -> Data {
            try requireReachable()
            if request.route.access == .device || request.route.access == .administrator {
                guard let device, hub.state.withLock({ $0.devices[device]?.isActive }) == true else {
                    if request.route == .roster, let page = hub.rosterOfRevoked(tokenHash, request) { return page }
                    throw HubError(.unauthorized, "No such token.")
                }
            }
            return try hub.answer(request, device)
        }

        func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> {
            try requireReachable()
            guard let device, hub.state.withLock({ $0.devices[device]?.isActive }) == true else {
                throw HubError(.unauthorized, "No such token.")
            }
            let (items, continuation) = AsyncThrowingStream<HubStreamItem, any Error>.makeStream()
            hub.state.withLock { state in
                continuation.yield(.open)
                for record in state.records where record.sequence! > sequence { continuation.yield(.record(record)) }
                continuation.yield(.live(sequence: state.sequence))
                state.nextStream += 1
                state.streams[state.nextStream] = (device, continuation)
            }
            return items
        }
    }

    // MARK: Answers

    /// The roster up to the entry that revokes the device with this former token; nil if there was none.
    private func rosterOfRevoked(_ tokenHash: Data?, _ request: HubRequest) -> Data? {
        state.withLock { state in
            guard let tokenHash, let count = state.revoked[tokenHash] else { return nil }
            let known = request.query.first { $0.name == "after" }.flatMap { Int($0.value) } ?? 0
            return try? JSONEncoder().encode(RosterPage(entries: Array(state.roster.prefix(count).dropFirst(known))))
        }
    }

    private func answer(_ request: HubRequest, _ device: HubID?) throws -> Data {
        func body<Body: Decodable>(_ type: Body.Type = Body.self) throws -> Body {
            guard case .json(let json) = request.body else { throw HubError(.badRequest, "no body") }
            return try JSONDecoder().decode(type, from: json)
        }
        func id() throws -> HubID {
            guard let id = request.parameters.last.flatMap({ HubID($0) }) else { throw HubError(.badRequest, "no id") }
            return id
        }
        func number(_ name: String) -> UInt64 {
            request.query.first { $0.name == name }.flatMap { UInt64($0.value) } ?? 0
        }
        switch request.route {
        case .hub:
            return try encode(
                HubReport(
                    name: "applocker-hub", version: "test", time: 0, pushKey: "", needsRegistrationToken: false,
                    registration: .open))
        case .foundHousehold: try found(body())
        case .household:
            let (sequence, count, generations) = state.withLock { ($0.sequence, $0.records.count, $0.generations) }
            return try encode(
                HouseholdReport(
                    household: state.withLock { $0.household! }, sequence: sequence, records: count, bytes: 0,
                    quotaBytes: 0, eventDays: state.withLock { $0.eventDays }, generations: generations))
        case .changeHousehold:
            let message: ChangeHouseholdRequest = try body()
            state.withLock { $0.eventDays = message.eventDays ?? $0.eventDays }
        case .removeHousehold: state.withLock { $0 = State() }
        case .ownDevice: return try encode(ownDevice(device))
        case .leave: state.withLock { $0.devices[device!] = nil }
        case .devices:
            let (devices, lastSeen) = state.withLock { ($0.devices, $0.lastSeen) }
            return try encode(
                HubDeviceList(
                    devices: devices.map {
                        HubDevice(
                            id: $0.key, role: $0.value.role, state: $0.value.isActive ? .active : .pending,
                            lastSeen: lastSeen, isConnected: false, hasPush: false)
                    }))
        case .roster:
            return try encode(RosterPage(entries: Array(state.withLock { $0.roster }.dropFirst(Int(number("after"))))))
        case .appendToRoster: try append(body())
        case .invite:
            let request: NewInvitationRequest = try body()
            state.withLock { $0.invitations[request.id] = (request.proofHash, nil) }
        case .invitation: return try encode(invitation(id()))
        case .withdrawInvitation:
            let invitation = try id()
            state.withLock { $0.invitations[invitation] = nil }
        case .join: try join(HubID(request.parameters[0])!, body())
        case .records: return try encode(page(after: number("after"), limit: Int(number("limit"))))
        case .record:
            let found = state.withLock { state in
                state.records.first { [$0.collection, $0.id.description] == request.parameters }
            }
            guard let found else { throw HubError(.notFound, "no such record") }
            return try encode(found)
        case .writeRecords: return try encode(write(body(HubWriteRequest.self).records, device!))
        case .beginBlob:
            let blob: NewBlobRequest = try body()
            state.withLock { if $0.blobs[blob.id] == nil { $0.blobs[blob.id] = (blob.size, []) } }
            return try encode(blobState(blob.id))
        case .writeBlob:
            guard case .bytes(let bytes) = request.body else { throw HubError(.badRequest, "no bytes") }
            let blob = try id()
            state.withLock { $0.blobs[blob]?.bytes += bytes }
            return try encode(blobState(blob))
        case .blobState: return try encode(blobState(HubID(request.parameters[0])!))
        case .push:
            let message: PushMessageRequest = try body()
            let subscriptions = state.withLock { state in
                state.pushes.append(message)
                return state.subscriptions
            }
            return try encode(PushMessageAnswer(subscriptions: subscriptions))
        default: throw HubError(.badRequest, "The hub of the tests does not have \(request.route).")
        }
        return Data()
    }

    private func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }

    private func found(_ request: NewHouseholdRequest) throws {
        state.withLock { state in
            state.household = request.household
            state.roster = [request.entry]
            state.devices[request.device] = Device(
                role: request.founderRole, isActive: true, tokenHash: request.tokenHash)
        }
    }

    private func ownDevice(_ device: HubID?) throws -> OwnDeviceReport {
        try state.withLock { state in
            guard let device, let known = state.devices[device], let household = state.household else {
                throw HubError(.unauthorized, "No such token.")
            }
            return OwnDeviceReport(
                device: device, household: household, role: known.role, state: known.isActive ? .active : .pending)
        }
    }

    private func append(_ request: RosterAppendRequest) throws {
        let gone = try state.withLock { state -> HubID? in
            guard request.number == UInt64(state.roster.count) + 1 else { throw HubError(.conflict, "not the next") }
            state.roster.append(request.entry)
            switch request.change {
            case .admit(let device, _, _):
                state.devices[device]?.isActive = true
                return nil
            case .revoke, .restore:
                guard let device = request.change.revoked else { return nil }
                if let known = state.devices[device] { state.revoked[known.tokenHash] = state.roster.count }
                state.devices[device] = nil
                return device
            }
        }
        if let gone {
            for stream in silence(gone) { stream.finish() }
        }
        stream(.roster(number: request.number))
    }

    private func invitation(_ id: HubID) throws -> InvitationReport {
        try state.withLock { state in
            guard let invitation = state.invitations[id] else { throw HubError(.gone, "It is gone.") }
            return InvitationReport(
                id: id, join: invitation.join.map { JoinReport(device: $0.device, sealed: $0.sealed) })
        }
    }

    private func join(_ id: HubID, _ request: JoinRequest) throws {
        try state.withLock { state in
            guard let invitation = state.invitations[id] else { throw HubError(.gone, "It is gone.") }
            if let join = invitation.join {
                guard join == request else { throw HubError(.gone, "It is used up.") }
                return
            }
            guard state.devices[request.device]?.isActive != true else { throw HubError(.conflict, "known") }
            state.invitations[id]?.join = request
            state.devices[request.device] = Device(role: request.role, isActive: false, tokenHash: request.tokenHash)
        }
        stream(.join(invitation: id))
    }

    private func page(after: UInt64, limit: Int) -> HubRecordPage {
        state.withLock { state in
            let all = state.records.filter { $0.sequence! > after }.sorted { $0.sequence! < $1.sequence! }
            let page = Array(all.prefix(limit))
            return HubRecordPage(
                records: page, next: page.count < all.count ? page.last!.sequence! : state.sequence,
                more: page.count < all.count)
        }
    }

    private func write(_ records: [HubRecord], _ device: HubID) -> HubWriteAnswer {
        var outcomes: [HubWriteOutcome] = []
        for record in records {
            let outcome = state.withLock { state -> HubWriteOutcome in
                state.writes += 1
                guard record.author == device else { return HubWriteOutcome(error: HubError(.forbidden, "author")) }
                let isNew = state.names.insert("\(record.collection)/\(record.id)").inserted
                let index =
                    isNew
                    ? nil : state.records.firstIndex { $0.collection == record.collection && $0.id == record.id }
                let stored = index.map { state.records[$0] }
                var same = record
                (same.sequence, same.replaces, same.ancestors) = (stored?.sequence, nil, stored?.ancestors)
                same.replacedVersion = nil
                let replaced = stored.map {
                    RecordVersion.digest(revision: $0.revision, sealed: $0.sealed.map { [UInt8]($0) })
                }
                if let stored, same == stored { return HubWriteOutcome(sequence: stored.sequence) }
                if let stored, stored.vault != record.vault {
                    return HubWriteOutcome(error: HubError(.badRequest, "another vault"))
                }
                guard (record.replaces ?? record.revision - 1) == (stored?.revision ?? 0),
                    record.revision > stored?.revision ?? 0,
                    record.replacedVersion.map({ [UInt8]($0) == replaced }) ?? true
                else {
                    return stored.map { HubWriteOutcome(conflict: $0) }
                        ?? HubWriteOutcome(error: HubError(.conflict, "nothing is stored"))
                }
                let isComplete = record.blobs.allSatisfy { id in
                    state.blobs[id].map { UInt64($0.bytes.count) == $0.size } ?? false
                }
                guard isComplete else { return HubWriteOutcome(error: HubError(.badRequest, "incomplete blob")) }
                state.sequence += 1
                same.sequence = state.sequence
                let known = RecordVersion.versions(in: [UInt8](record.ancestors ?? Data()))
                let had = RecordVersion.versions(in: [UInt8](stored?.ancestors ?? Data()))
                let all = (had + [replaced].compactMap { $0 }).filter { !known.contains($0) } + known
                same.ancestors = Data(all.suffix(RecordVersion.maximumCount).flatMap { $0 })
                if let index { state.records[index] = same } else { state.records.append(same) }
                // In sequence order, and nothing of a replaced store. A stream that ends does not need this lock.
                for (number, stream) in state.streams {
                    if case .terminated = stream.items.yield(.record(same)) { state.streams[number] = nil }
                }
                return HubWriteOutcome(sequence: state.sequence)
            }
            outcomes.append(outcome)
        }
        return HubWriteAnswer(outcomes: outcomes)
    }

    private func blobState(_ id: HubID) throws -> BlobState {
        try state.withLock { state in
            guard let blob = state.blobs[id] else { throw HubError(.notFound, "no such blob") }
            return BlobState(
                size: blob.size, received: UInt64(blob.bytes.count), isComplete: UInt64(blob.bytes.count) == blob.size)
        }
    }
}
