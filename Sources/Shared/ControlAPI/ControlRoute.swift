import HubAPI

/// Every operation of the control socket: one description that both the client prints and the server registers.
///
/// HTTP/1.1 with JSON bodies over the Unix socket `control.sock`; curl works:
/// `curl --unix-socket control.sock http://applocker/v1/status`. `docs/control-socket.md` lists bodies and answers.
public enum ControlRoute: String, CaseIterable, Sendable {
    case status = "GET /v1/status"
    case setUp = "POST /v1/setup"
    case openSession = "POST /v1/sessions"
    case endSession = "DELETE /v1/sessions"
    case listApps = "GET /v1/apps"
    case listInstalled = "GET /v1/installed"
    case addApp = "POST /v1/apps"
    case removeApp = "DELETE /v1/apps/{app}"
    case changeApp = "PATCH /v1/apps/{app}"
    case lock = "POST /v1/lock"
    case unlock = "POST /v1/unlock"
    case listCategories = "GET /v1/categories"
    case setCategory = "PUT /v1/categories/{category}"
    case removeCategory = "DELETE /v1/categories/{category}"
    case setMonitoring = "PUT /v1/monitoring"
    case changePasscode = "POST /v1/passcode"
    case settings = "GET /v1/settings"
    case changeSettings = "PATCH /v1/settings"
    case log = "GET /v1/log"
    case statistics = "GET /v1/statistics"
    case prompts = "GET /v1/prompts"
    case waitingPrompts = "GET /v1/prompts/waiting"
    case registerDesktop = "POST /v1/prompts/desktop"
    case answerPrompt = "POST /v1/prompts/{prompt}/answer"
    case cancelPrompt = "POST /v1/prompts/{prompt}/cancel"
    case session = "GET /v1/session"
    case reportIdle = "POST /v1/session/idle"
    case vault = "GET /v1/vault"
    case openVault = "POST /v1/vault/unlock"
    case closeVault = "POST /v1/vault/lock"
    case seal = "POST /v1/vault/seal"
    case open = "POST /v1/vault/open"
    case listNotes = "GET /v1/notes"
    case addNote = "POST /v1/notes"
    case readNote = "GET /v1/notes/{note}"
    case changeNote = "PUT /v1/notes/{note}"
    case removeNote = "DELETE /v1/notes/{note}"
    case listFiles = "GET /v1/files"
    case addFile = "POST /v1/files"
    case readFile = "GET /v1/files/{file}"
    case removeFile = "DELETE /v1/files/{file}"
    /// Sealed bytes of a blob.
    case readBlob = "GET /v1/blobs/{blob}"
    /// The next sealed bytes of a blob that is being put.
    case putBlob = "PUT /v1/blobs/{blob}"
    case removeBlob = "DELETE /v1/blobs/{blob}"
    case listMoments = "GET /v1/moments"
    case addMoment = "POST /v1/moments"
    case readMoment = "GET /v1/moments/{moment}"
    case changeMoment = "PATCH /v1/moments/{moment}"
    /// Permanently, with its photos.
    case removeMoment = "DELETE /v1/moments/{moment}"
    case knownPhotos = "POST /v1/photos/known"
    case readPhoto = "GET /v1/photos/{photo}"
    case listVaults = "GET /v1/vaults"
    case joinVault = "POST /v1/vaults"
    case readVault = "GET /v1/vaults/{vault}"
    case leaveVault = "DELETE /v1/vaults/{vault}"
    case listIntruders = "GET /v1/intruders"
    case readIntruder = "GET /v1/intruders/{intruder}"
    case removeIntruder = "DELETE /v1/intruders/{intruder}"
    case exportBackup = "POST /v1/backups"
    case importBackup = "POST /v1/backups/import"
    case makeRecovery = "POST /v1/recovery"
    case testRecovery = "POST /v1/recovery/test"
    case useRecovery = "POST /v1/recovery/use"
    case verifyLog = "GET /v1/log/verify"
    case hubStatus = "GET /v1/hub"
    case connectHub = "POST /v1/hub"
    case disconnectHub = "DELETE /v1/hub"
    case joinHub = "POST /v1/hub/join"
    case joining = "GET /v1/hub/join"
    case endJoining = "DELETE /v1/hub/join"
    case sendVaultKeys = "POST /v1/hub/keys"
    case makePairing = "POST /v1/pairings"
    case pairing = "GET /v1/pairings/{pairing}"
    case confirmPairing = "POST /v1/pairings/{pairing}/confirm"
    case endPairing = "DELETE /v1/pairings/{pairing}"
    case listDevices = "GET /v1/devices"
    case renameDevice = "PATCH /v1/devices/{device}"
    case revokeDevice = "POST /v1/devices/{device}/revoke"
    case restoreChanges = "POST /v1/household/restore"
    case reset = "POST /v1/reset"
    case stop = "POST /v1/stop"

    /// The field of a query that names a shared vault, by id, the beginning of it or name, for requests about moments,
    /// photos and blobs. Without it they concern this computer's own vault.
    public static let sharedVault = "vault"

    /// The longest body that is read, in bytes.
    public var maximumBodyBytes: Int {
        switch self {
        // A note of 1 MiB, each byte of it escaped in JSON.
        case .addNote, .changeNote: 7 << 20
        // The same in words, and 200 thumbnails of 16 KiB in base64.
        case .addMoment: 12 << 20
        case .putBlob: Self.maximumBlobPiece
        default: Self.smallBodyBytes
        }
    }

    /// What most requests are held to, in bytes.
    public static let smallBodyBytes = 64 << 10

    /// The longest body of a request that has not been routed yet, in bytes.
    public static func maximumBodyBytes(method: String, path: String) -> Int {
        let fitting = allCases.filter { route in
            route.method == method && path.hasPrefix(route.template.prefix { $0 != "{" })
        }
        return fitting.map(\.maximumBodyBytes).max() ?? smallBodyBytes
    }

    /// Of a blob, the most that one request carries, in bytes.
    public static let maximumBlobPiece = 1 << 20

    /// Whether the answer is a stream of server-sent events that lasts as long as both ends.
    public var answersEvents: Bool { self == .prompts || self == .session }

    /// Whether the work may take long, and stops when the client hangs up.
    public var endsWithItsClient: Bool { self == .verifyLog }

    /// Whether the answer is bytes instead of JSON.
    public var answersBytes: Bool { self == .readBlob }

    public var method: String { String(rawValue.prefix { $0 != " " }) }

    /// The path with its parameters in braces, in the syntax of the server's router.
    public var template: String { String(rawValue.drop { $0 != " " }.dropFirst()) }

    /// The path with its parameter filled in; the value is percent-encoded.
    public func path(_ parameter: String? = nil) -> String {
        guard let parameter, let open = template.firstIndex(of: "{"), let close = template.firstIndex(of: "}") else {
            return template
        }
        return template[..<open] + PercentEncoding.encode(parameter) + template[template.index(after: close)...]
    }
}
