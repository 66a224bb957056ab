public import Foundation

/// Whether the vault is open: whether its keys are in the daemon's memory.
public struct VaultStatus: Codable, Equatable, Sendable {
    /// The vault's id, 32 hexadecimal digits; nil before there is one.
    public var vault: String?
    public var isOpen: Bool
    /// The user it is open for; no other user may use it.
    public var user: UInt32?
    /// Seconds until it locks itself; each use restarts the count.
    public var locksInSeconds: Int?

    public init(vault: String?, isOpen: Bool, user: UInt32? = nil, locksInSeconds: Int? = nil) {
        self.vault = vault
        self.isOpen = isOpen
        self.user = user
        self.locksInSeconds = locksInSeconds
    }
}

/// `POST /v1/vault/seal`: the header of a locked file, sealed under the open vault.
public struct SealRequest: Codable, Sendable {
    /// 32 hexadecimal digits, chosen by the caller.
    public var id: String
    /// The body of the envelope; at most 32 KiB.
    public var plaintext: Data
    public init(id: String, plaintext: Data) {
        self.id = id
        self.plaintext = plaintext
    }
}

public struct SealReply: Codable, Sendable {
    public var vault: String
    /// A record envelope of collection "locked-files", revision 1.
    public var envelope: Data
    public init(vault: String, envelope: Data) {
        self.vault = vault
        self.envelope = envelope
    }
}

/// `POST /v1/vault/open`: what `seal` sealed.
public struct OpenRequest: Codable, Sendable {
    public var vault: String
    public var id: String
    public var envelope: Data
    public init(vault: String, id: String, envelope: Data) {
        self.vault = vault
        self.id = id
        self.envelope = envelope
    }
}

public struct OpenReply: Codable, Sendable {
    public var plaintext: Data
    public init(plaintext: Data) { self.plaintext = plaintext }
}

// MARK: Notes

/// A note without its text.
public struct NoteReport: Codable, Equatable, Sendable {
    public var id: String
    public var title: String
    /// Seconds since 1970.
    public var created: Double
    public var modified: Double
    public var revision: UInt64
    /// Names what is in it now; two devices can each write the same revision.
    public var version: String
    /// Of the text, in bytes of UTF-8.
    public var size: Int
    /// The first line of the text with something in it, at most 100 characters and 400 bytes.
    public var preview: String

    public init(
        id: String, title: String, created: Double, modified: Double, revision: UInt64, version: String, size: Int,
        preview: String
    ) {
        self.id = id
        self.title = title
        self.created = created
        self.modified = modified
        self.revision = revision
        self.version = version
        self.size = size
        self.preview = preview
    }
}

/// `GET /v1/notes`.
public struct ListNotesQuery: ControlQuery {
    public static var fields: [QueryField<Self>] { [.text("search", \.search)] }

    /// Words that title or text have, all of them.
    public var search: String?
    public init() {}
    public init(search: String?) { self.search = search }
}

/// Newest first.
public struct NoteList: Codable, Equatable, Sendable {
    public var notes: [NoteReport]
    /// Those that can't be opened with the keys of their vault.
    public var unreadable: Int
    public init(notes: [NoteReport], unreadable: Int = 0) {
        self.notes = notes
        self.unreadable = unreadable
    }
}

/// `GET /v1/notes/{note}`.
public struct NoteContent: Codable, Equatable, Sendable {
    public var note: NoteReport
    public var body: String
    public init(note: NoteReport, body: String) {
        self.note = note
        self.body = body
    }
}

/// `POST /v1/notes` and `PUT /v1/notes/{note}`.
public struct NoteRequest: Codable, Sendable {
    /// At most 1,000 bytes.
    public var title: String
    /// At most 1 MiB.
    public var body: String
    /// The version that a change replaces, as `NoteReport` has it. Where it is not the current one, both are kept: the change
    /// becomes a note of its own.
    public var replaces: String?
    public init(title: String, body: String, replaces: String? = nil) {
        self.title = title
        self.body = body
        self.replaces = replaces
    }
}

/// What became of a note that was written.
public struct NoteSaved: Codable, Equatable, Sendable {
    public var note: NoteReport
    /// A sentence where the note had been changed elsewhere and the change was kept beside it.
    public var conflict: String?
    public init(note: NoteReport, conflict: String? = nil) {
        self.note = note
        self.conflict = conflict
    }
}

/// `DELETE /v1/notes/{note}`.
public struct RemoveNoteQuery: ControlQuery {
    public static var fields: [QueryField<Self>] { [.text("version", \.version)] }

    /// Another one than this is not removed.
    public var version: String?
    public init() {}
    public init(version: String) { self.version = version }
}

// MARK: Files

/// A file in the vault.
public struct FileReport: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    /// Of the content, in bytes.
    public var size: UInt64
    /// Seconds since 1970.
    public var added: Double
    public var modified: Double

    public init(id: String, name: String, size: UInt64, added: Double, modified: Double) {
        self.id = id
        self.name = name
        self.size = size
        self.added = added
        self.modified = modified
    }
}

/// `GET /v1/files`, newest first.
public struct FileList: Codable, Equatable, Sendable {
    public var files: [FileReport]
    /// Those that can't be opened with the keys of their vault.
    public var unreadable: Int
    public init(files: [FileReport], unreadable: Int = 0) {
        self.files = files
        self.unreadable = unreadable
    }
}

/// `POST /v1/files`: the record of a file whose sealed content was put as blob `id` before.
public struct AddFileRequest: Codable, Sendable {
    /// Of the record and of its blob.
    public var id: String
    public var name: String
    public var size: UInt64
    public var modified: Double
    /// Permission bits.
    public var mode: UInt32
    /// Of the blob, in bytes.
    public var sealedSize: UInt64
    /// 32 bytes: opens the stream of the blob, whose name is (vault, "files", id).
    public var contentKey: Data
    public init(
        id: String, name: String, size: UInt64, modified: Double, mode: UInt32, sealedSize: UInt64, contentKey: Data
    ) {
        self.id = id
        self.name = name
        self.size = size
        self.modified = modified
        self.mode = mode
        self.sealedSize = sealedSize
        self.contentKey = contentKey
    }
}

/// `GET /v1/files/{file}`: what it takes to open the blob.
public struct FileContent: Codable, Sendable {
    public var file: FileReport
    public var vault: String
    public var mode: UInt32
    public var sealedSize: UInt64
    public var contentKey: Data
    public init(file: FileReport, vault: String, mode: UInt32, sealedSize: UInt64, contentKey: Data) {
        self.file = file
        self.vault = vault
        self.mode = mode
        self.sealedSize = sealedSize
        self.contentKey = contentKey
    }
}

/// `GET /v1/blobs/{blob}`.
public struct ReadBlobQuery: ControlQuery {
    public static var fields: [QueryField<Self>] {
        [.number("offset", \.offset, 0...Int.max), .number("length", \.length, 1...ControlRoute.maximumBlobPiece)]
    }

    public var offset: UInt64 = 0
    public var length = ControlRoute.maximumBlobPiece
    public init() {}
    public init(offset: UInt64, length: Int) { (self.offset, self.length) = (offset, length) }
}

/// `PUT /v1/blobs/{blob}`.
public struct PutBlobQuery: ControlQuery {
    public static var fields: [QueryField<Self>] { [.number("offset", \.offset, 0...Int.max)] }

    public var offset: UInt64 = 0
    public init() {}
    public init(offset: UInt64) { self.offset = offset }
}

// MARK: Intruder photos

/// An intruder photo without its picture.
public struct IntruderReport: Codable, Equatable, Sendable {
    public var id: String
    /// Seconds since 1970.
    public var time: Double
    public var app: String?
    /// Whose session it was.
    public var user: UInt32?
    /// Wrong passcodes in a row by then.
    public var failures: Int
    /// Of the picture, in bytes.
    public var size: Int
    public init(id: String, time: Double, app: String?, user: UInt32?, failures: Int, size: Int) {
        self.id = id
        self.time = time
        self.app = app
        self.user = user
        self.failures = failures
        self.size = size
    }
}

/// `GET /v1/intruders`, newest first.
public struct IntruderList: Codable, Equatable, Sendable {
    public var intruders: [IntruderReport]
    /// Those that can't be opened with the keys of their vault.
    public var unreadable: Int
    public init(intruders: [IntruderReport], unreadable: Int = 0) {
        self.intruders = intruders
        self.unreadable = unreadable
    }
}

/// `GET /v1/intruders/{intruder}`.
public struct IntruderPhoto: Codable, Sendable {
    public var intruder: IntruderReport
    /// JPEG.
    public var photo: Data
    public init(intruder: IntruderReport, photo: Data) {
        self.intruder = intruder
        self.photo = photo
    }
}
