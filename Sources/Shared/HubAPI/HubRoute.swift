/// Every operation of a hub: one description that the client prints, the server registers and `docs/hub-openapi.json` is
/// compared with. `docs/hub-protocol.md` describes each.
public enum HubRoute: String, CaseIterable, Sendable {
    case health = "GET /health"
    case metrics = "GET /metrics"
    case hub = "GET /v1/hub"
    case foundHousehold = "POST /v1/households"
    case household = "GET /v1/household"
    case changeHousehold = "PATCH /v1/household"
    case removeHousehold = "DELETE /v1/household"
    case ownDevice = "GET /v1/device"
    case leave = "DELETE /v1/device"
    case devices = "GET /v1/devices"
    /// `?after=N`
    case roster = "GET /v1/roster"
    case appendToRoster = "POST /v1/roster"
    case invite = "POST /v1/invitations"
    case invitation = "GET /v1/invitations/{id}"
    case withdrawInvitation = "DELETE /v1/invitations/{id}"
    case invitationDetails = "POST /v1/invitations/{id}/details"
    case join = "POST /v1/invitations/{id}/join"
    /// `?after=N&limit=N`
    case records = "GET /v1/records"
    case record = "GET /v1/records/{collection}/{id}"
    /// With `If-Match: "N"`, or `If-None-Match: *`.
    case writeRecord = "PUT /v1/records/{collection}/{id}"
    case writeRecords = "POST /v1/records"
    /// `Last-Event-ID: N`, or `?after=N`.
    case stream = "GET /v1/stream"
    case beginBlob = "POST /v1/blobs"
    /// `?offset=N`; the body is bytes.
    case writeBlob = "PATCH /v1/blobs/{id}"
    case blobState = "GET /v1/blobs/{id}/state"
    /// `Range: bytes=A-B`.
    case readBlob = "GET /v1/blobs/{id}"
    case setPINShare = "PUT /v1/pin-share"
    case pinShare = "GET /v1/pin-share"
    case attemptPIN = "POST /v1/pin-share/attempt"
    case replacePIN = "POST /v1/pin-share/replace"
    case setPush = "PUT /v1/push"
    case removePush = "DELETE /v1/push"
    case push = "POST /v1/push/messages"
    case setReminders = "PUT /v1/push/reminders"

    /// Who may ask.
    public enum Access: Sendable {
        /// No token is looked at.
        case anybody
        /// An admitted device, or one that has joined and is not admitted yet.
        case knownDevice
        /// An admitted device.
        case device
        /// An admitted device that may admit others: a computer, or a companion in the role of an administrator.
        case administrator
        /// An admitted phone or browser, in either of its roles.
        case companion
    }

    public var access: Access {
        switch self {
        case .health, .metrics, .hub, .foundHousehold, .invitationDetails, .join: .anybody
        case .ownDevice: .knownDevice
        case .changeHousehold, .removeHousehold, .appendToRoster, .invite, .invitation, .withdrawInvitation:
            .administrator
        case .leave, .setPINShare, .pinShare, .attemptPIN, .replacePIN: .companion
        case .household, .devices, .roster, .records, .record, .writeRecord, .writeRecords, .stream, .beginBlob,
            .writeBlob, .blobState, .readBlob, .setPush, .removePush, .push, .setReminders:
            .device
        }
    }

    /// The longest body that is read, in bytes.
    public var maximumBodyBytes: Int {
        switch self {
        // The sealed bytes in base64, and what is around them.
        case .writeRecord: (HubRecord.maximumSealedBytes + 2) / 3 * 4 + (8 << 10)
        case .writeRecords: 8 << 20
        case .writeBlob: BlobState.maximumPiece
        default: Self.smallBodyBytes
        }
    }

    /// What most requests are held to, in bytes.
    public static let smallBodyBytes = 64 << 10

    /// Whether the answer is a stream of server-sent events that lasts as long as both ends.
    public var answersEvents: Bool { self == .stream }

    /// GET, PUT, POST, PATCH or DELETE.
    public var method: String { String(rawValue.prefix { $0 != " " }) }

    /// The path with its parameters in braces, in the syntax of the server's router.
    public var template: String { String(rawValue.drop { $0 != " " }.dropFirst()) }

    /// The path with its parameters filled in, in their order. Every value is percent-encoded.
    public func path(_ parameters: String...) -> String { path(parameters) }

    /// The same.
    public func path(_ parameters: [String]) -> String {
        var left = parameters[...]
        return template.split(separator: "/").map { part in
            "/" + (part.hasPrefix("{") ? PercentEncoding.encode(left.popFirst() ?? "") : String(part))
        }.joined()
    }

    /// The route of a request's method and path (without its query), nil where there is none. `parameters`: the values of
    /// the template's parameters by name, percent-encoded as in the path.
    public static func match(
        method: String, path: some StringProtocol
    ) -> (route: HubRoute, parameters: [String: String])? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let candidates = patterns[Shape(method: method, parts: parts.count)] else { return nil }
        let found = candidates.first { candidate in
            zip(candidate.parts, parts).allSatisfy { $0.isParameter ? !$1.isEmpty : $0.text == $1 }
        }
        guard let found else { return nil }
        var parameters: [String: String] = [:]
        for (pattern, text) in zip(found.parts, parts) where pattern.isParameter {
            parameters[pattern.text] = String(text)
        }
        return (found.route, parameters)
    }

    private struct Shape: Hashable {
        var method: String
        var parts: Int
    }

    private struct Pattern {
        var route: HubRoute
        var parts: [(text: String, isParameter: Bool)]
    }

    /// The few routes that a path of a number of parts may be: the server looks up every request, also those for files.
    private static let patterns: [Shape: [Pattern]] = {
        let all = allCases.map { route in
            Pattern(
                route: route,
                parts: route.template.split(separator: "/", omittingEmptySubsequences: false).map { part in
                    part.hasPrefix("{") ? (String(part.dropFirst().dropLast()), true) : (String(part), false)
                })
        }
        return Dictionary(grouping: all) { Shape(method: $0.route.method, parts: $0.parts.count) }
    }()
}
