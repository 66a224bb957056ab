public import Foundation

/// One request to a hub, before HTTP is put on it.
public struct HubRequest: Sendable {
    public var route: HubRoute
    /// Fill the braces in the route's path, in their order.
    public var parameters: [String]
    public var query: [(name: String, value: String)]
    public var body: Body

    public enum Body: Sendable {
        case none
        case json(Data)
        case bytes([UInt8])
    }

    public init(
        _ route: HubRoute, _ parameters: [String] = [], query: [(name: String, value: String)] = [], body: Body = .none
    ) {
        self.route = route
        self.parameters = parameters
        self.query = query
        self.body = body
    }
}

/// What comes by `GET /v1/stream`.
public enum HubStreamItem: Equatable, Sendable {
    /// The stream is open.
    case open
    case record(HubRecord)
    /// A record with this sequence number is too large for the stream and has to be fetched.
    case large(sequence: UInt64)
    case roster(number: UInt64)
    case join(invitation: HubID)
    /// Everything up to this sequence number was sent.
    case live(sequence: UInt64)
}

/// A device's connection to its hub. The hub is untrusted: the devices check signatures and seals.
public protocol HubConnection: Sendable {
    /// - Returns: the answer's body.
    /// - Throws: `HubError` where the hub refused, `HubUnreachable` where it did not answer.
    func send(_ request: HubRequest) async throws -> Data
    /// What was written after a sequence number, then what is written from now on, until either end closes it.
    /// - Throws: as `send`; the stream ends with the same errors.
    func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error>
}

/// The hub did not answer, or not in a way that this version understands.
public struct HubUnreachable: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case offline, timeout, certificate, notUnderstood, tooLarge
    }

    public let code: Code
    /// One sentence.
    public let sentence: String

    public init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    public var description: String { sentence }
}

// MARK: The requests

extension HubConnection {
    private func call<Reply: Decodable>(
        _ route: HubRoute, _ parameters: [String] = [], query: [(name: String, value: String)] = [],
        body: (any Encodable & Sendable)? = nil
    ) async throws -> Reply {
        try await decoded(
            HubRequest(
                route, parameters, query: query, body: try body.map { .json(try JSONEncoder().encode($0)) } ?? .none))
    }

    private func decoded<Reply: Decodable>(_ request: HubRequest) async throws -> Reply {
        let answer = try await send(request)
        guard let reply = try? JSONDecoder().decode(Reply.self, from: answer) else {
            throw HubUnreachable(
                .notUnderstood, "The hub's response is invalid; update hub and devices to one version.")
        }
        return reply
    }

    private func perform(
        _ route: HubRoute, _ parameters: [String] = [], body: (any Encodable & Sendable)? = nil
    ) async throws {
        _ = try await send(
            HubRequest(route, parameters, body: try body.map { .json(try JSONEncoder().encode($0)) } ?? .none))
    }

    public func hub() async throws -> HubReport { try await call(.hub) }
    public func found(_ request: NewHouseholdRequest) async throws { try await perform(.foundHousehold, body: request) }
    public func household() async throws -> HouseholdReport { try await call(.household) }
    public func changeHousehold(_ request: ChangeHouseholdRequest) async throws {
        try await perform(.changeHousehold, body: request)
    }
    public func removeHousehold() async throws { try await perform(.removeHousehold) }
    public func ownDevice() async throws -> OwnDeviceReport { try await call(.ownDevice) }
    public func leave() async throws { try await perform(.leave) }
    public func devices() async throws -> [HubDevice] { try await (call(.devices) as HubDeviceList).devices }

    /// Entries above this number.
    public func roster(after number: UInt64) async throws -> [[UInt8]] {
        let page: RosterPage = try await call(.roster, query: [("after", String(number))])
        return page.entries.map { [UInt8]($0) }
    }

    public func append(_ request: RosterAppendRequest) async throws {
        try await perform(.appendToRoster, body: request)
    }
    public func invite(_ request: NewInvitationRequest) async throws { try await perform(.invite, body: request) }

    public func invitation(_ id: HubID) async throws -> InvitationReport {
        try await call(.invitation, [id.description])
    }

    /// What the inviting device stored for a device with a typed code.
    public func details(ofInvitation id: HubID, proof: Data) async throws -> Data {
        let details: InvitationDetails = try await call(
            .invitationDetails, [id.description], body: InvitationDetailsRequest(proof: proof))
        return details.details
    }

    public func withdrawInvitation(_ id: HubID) async throws {
        try await perform(.withdrawInvitation, [id.description])
    }

    public func join(_ id: HubID, _ request: JoinRequest) async throws {
        try await perform(.join, [id.description], body: request)
    }

    public func records(after sequence: UInt64, limit: Int = 256) async throws -> HubRecordPage {
        try await call(
            .records, query: [(name: "after", value: String(sequence)), (name: "limit", value: String(limit))])
    }

    /// The record under a sequence number, or the next one where it was replaced since; none after the last.
    public func record(at sequence: UInt64) async throws -> HubRecord? {
        try await records(after: max(sequence, 1) - 1, limit: 1).records.first
    }

    public func record(_ collection: String, _ id: HubID) async throws -> HubRecord {
        try await call(.record, [collection, id.description])
    }

    /// One outcome for each record, in the same order.
    public func write(_ records: [HubRecord]) async throws -> [HubWriteOutcome] {
        let answer: HubWriteAnswer = try await call(.writeRecords, body: HubWriteRequest(records: records))
        guard answer.outcomes.count == records.count else {
            throw HubUnreachable(.notUnderstood, "The hub answered for the wrong records.")
        }
        return answer.outcomes
    }

    // MARK: Blobs

    public func beginBlob(_ request: NewBlobRequest) async throws -> BlobState {
        try await call(.beginBlob, body: request)
    }

    public func writeBlob(_ id: HubID, offset: UInt64, bytes: [UInt8]) async throws -> BlobState {
        try await decoded(
            HubRequest(.writeBlob, [id.description], query: [("offset", String(offset))], body: .bytes(bytes)))
    }

    public func blobState(_ id: HubID) async throws -> BlobState { try await call(.blobState, [id.description]) }

    /// At most `length` bytes from an offset, which has to be inside the blob.
    public func readBlob(_ id: HubID, offset: UInt64, length: Int) async throws -> [UInt8] {
        let range = "bytes=\(offset)-\(offset + UInt64(length) - 1)"
        return [UInt8](try await send(HubRequest(.readBlob, [id.description], query: [(HubRequest.range, range)])))
    }

    // MARK: PIN share and push

    public func setPINShare(_ request: PINShareRequest) async throws { try await perform(.setPINShare, body: request) }
    public func pinShare() async throws -> PINShareState { try await call(.pinShare) }

    public func attemptPIN(verifier: Data) async throws -> Data {
        try await (call(.attemptPIN, body: PINAttemptRequest(verifier: verifier)) as PINShareAnswer).share
    }

    public func replacePIN(_ request: PINReplaceRequest) async throws { try await perform(.replacePIN, body: request) }

    public func setPush(_ request: PushSubscriptionRequest) async throws { try await perform(.setPush, body: request) }
    public func removePush() async throws { try await perform(.removePush) }

    public func push(_ request: PushMessageRequest) async throws -> Int {
        try await (call(.push, body: request) as PushMessageAnswer).subscriptions
    }
}

extension HubRequest {
    /// A query of this name is sent as the header `Range` instead.
    public static let range = "Range"
}
