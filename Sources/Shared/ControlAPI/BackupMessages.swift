/// `POST /v1/backups`: writes a sealed backup, which is then fetched as a blob and deleted.
public struct ExportRequest: Codable, Sendable {
    /// The owner's passcode: a backup takes everything away with it.
    public var passcode: String
    /// Opens the backup; the passcode if absent.
    public var passphrase: String?
    public var settingsOnly: Bool
    public init(passcode: String, passphrase: String?, settingsOnly: Bool) {
        self.passcode = passcode
        self.passphrase = passphrase
        self.settingsOnly = settingsOnly
    }
}

public struct ExportReply: Codable, Sendable {
    /// An item that is in the backup without its content, or without the photo as it was stored.
    public struct Incomplete: Codable, Equatable, Sendable {
        /// "files", "photos" or "intruders".
        public var collection: String
        public var id: String
        /// A file's name, or the title of a photo's moment; empty if it has none.
        public var name: String
        public init(collection: String, id: String, name: String) {
            (self.collection, self.id, self.name) = (collection, id, name)
        }
    }

    /// Of the blob that holds the backup until it is deleted.
    public var blob: String
    /// In bytes.
    public var size: UInt64
    public var apps: Int
    public var records: Int
    public var blobs: Int
    /// Items whose content is not on this computer, or can't be read.
    public var incomplete: [Incomplete]
    public init(
        blob: String, size: UInt64, apps: Int, records: Int, blobs: Int, incomplete: [Incomplete] = []
    ) {
        self.blob = blob
        self.size = size
        self.apps = apps
        self.records = records
        self.blobs = blobs
        self.incomplete = incomplete
    }
}

/// `POST /v1/backups/import`: reads a backup that was put as a blob before.
public struct ImportRequest: Codable, Sendable {
    public enum Mode: String, Codable, Sendable {
        /// Adds what is missing; keeps both versions of what differs.
        case merge
        /// Replaces everything by the backup's content.
        case replace
    }

    public var passcode: String
    /// Opens the backup; the passcode if absent.
    public var passphrase: String?
    public var blob: String
    public var mode: Mode
    /// Only reports what would change.
    public var isTrial: Bool
    public init(passcode: String, passphrase: String?, blob: String, mode: Mode, isTrial: Bool) {
        self.passcode = passcode
        self.passphrase = passphrase
        self.blob = blob
        self.mode = mode
        self.isTrial = isTrial
    }
}

/// What an import changed, or would.
public struct ImportReport: Codable, Equatable, Sendable {
    /// 2, 1 for the earlier sealed format, 0 for its plain JSON.
    public var version: Int
    /// When the backup was made, according to itself.
    public var created: String
    public var appsAdded: [String]
    public var appsChanged: [String]
    public var appsRemoved: [String]
    public var recordsAdded: Int
    /// The number of items of which both versions were kept.
    public var recordsInConflict: Int
    public var recordsRemoved: Int
    /// What could not be imported, a sentence each.
    public var notes: [String]
    public init(
        version: Int, created: String, appsAdded: [String] = [], appsChanged: [String] = [], appsRemoved: [String] = [],
        recordsAdded: Int = 0, recordsInConflict: Int = 0, recordsRemoved: Int = 0, notes: [String] = []
    ) {
        self.version = version
        self.created = created
        self.appsAdded = appsAdded
        self.appsChanged = appsChanged
        self.appsRemoved = appsRemoved
        self.recordsAdded = recordsAdded
        self.recordsInConflict = recordsInConflict
        self.recordsRemoved = recordsRemoved
        self.notes = notes
    }
}

/// `POST /v1/recovery`: a fresh recovery code; the previous one stops working once the fresh one is entered.
public struct RecoveryReply: Codable, Sendable {
    /// As printed. It is shown only once.
    public var code: String
    public init(code: String) { self.code = code }
}

/// `POST /v1/recovery/test` and `/v1/recovery/use`.
public struct RecoveryRequest: Codable, Sendable {
    public var code: String
    /// Only to use it: the passcode from now on.
    public var newPasscode: String?
    public init(code: String, newPasscode: String? = nil) {
        self.code = code
        self.newPasscode = newPasscode
    }
}

/// `POST /v1/reset`: forgets everything.
public struct ResetRequest: Codable, Sendable {
    public var passcode: String
    /// Must be "erase everything".
    public var confirmation: String
    public static let confirmationText = "erase everything"
    public init(passcode: String, confirmation: String) {
        self.passcode = passcode
        self.confirmation = confirmation
    }
}

/// `GET /v1/log/verify`.
public struct VerifyLogQuery: ControlQuery {
    public static var fields: [QueryField<Self>] { [.text("head", \.head)] }

    /// "number:hash", as an earlier `LogVerification` has it.
    public var head: String?
    public init() {}
    public init(head: String?) { self.head = head }
}

public struct LogVerification: Codable, Equatable, Sendable {
    public var isWhole: Bool
    /// The number of links that were checked.
    public var links: UInt64
    /// The newest link, as "number:hash"; to be kept elsewhere.
    public var head: String
    /// The number of the first invalid event.
    public var firstBroken: UInt64?
    /// The result as a sentence.
    public var sentence: String
    public init(isWhole: Bool, links: UInt64, head: String, firstBroken: UInt64? = nil, sentence: String) {
        self.isWhole = isWhole
        self.links = links
        self.head = head
        self.firstBroken = firstBroken
        self.sentence = sentence
    }
}
