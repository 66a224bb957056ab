public import Foundation

/// Where a moment was: a name, a point in degrees, or both.
public struct MomentPlace: Codable, Equatable, Sendable {
    public var name: String?
    public var latitude: Double?
    public var longitude: Double?

    public init(name: String?, latitude: Double? = nil, longitude: Double? = nil) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// What a moment has besides photos.
public enum RecordingKind: String, Codable, Sendable { case video, voice }

extension [MomentReport.Photo] {
    /// - Parameter kind: nil for photos.
    public func count(of kind: RecordingKind?) -> Int { count { $0.kind == kind } }
}

/// A moment without its words.
public struct MomentReport: Codable, Equatable, Sendable {
    public struct Photo: Codable, Equatable, Sendable {
        public var id: String
        /// Of the original, upright, in pixels; of a recording, of its poster.
        public var width: Int
        public var height: Int
        /// Nil of a photo.
        public var kind: RecordingKind?
        /// Of a recording, in seconds.
        public var duration: Double?

        public init(id: String, width: Int, height: Int, kind: RecordingKind? = nil, duration: Double? = nil) {
            self.kind = kind
            self.duration = duration
            self.id = id
            self.width = width
            self.height = height
        }
    }

    public var id: String
    public var revision: UInt64
    public var title: String
    /// Seconds since 1970.
    public var date: Double
    /// The local time's offset from UTC, in minutes.
    public var offset: Int
    /// Empty if there is none.
    public var mood: String
    public var place: MomentPlace?
    /// In their order.
    public var photos: [Photo]
    public var favourite: Bool
    public var created: Double
    public var modified: Double
    /// When it was put in the trash, seconds since 1970.
    public var removed: Double?

    public init(
        id: String, revision: UInt64, title: String, date: Double, offset: Int, mood: String, place: MomentPlace?,
        photos: [Photo], favourite: Bool, created: Double, modified: Double, removed: Double?
    ) {
        self.id = id
        self.revision = revision
        self.title = title
        self.date = date
        self.offset = offset
        self.mood = mood
        self.place = place
        self.photos = photos
        self.favourite = favourite
        self.created = created
        self.modified = modified
        self.removed = removed
    }
}

/// `GET /v1/moments`, newest first.
public struct MomentList: Codable, Equatable, Sendable {
    public var moments: [MomentReport]
    /// Those that can't be opened with the keys of their vault.
    public var unreadable: Int

    public init(moments: [MomentReport], unreadable: Int) {
        self.moments = moments
        self.unreadable = unreadable
    }
}

/// `GET /v1/moments/{moment}`.
public struct MomentContent: Codable, Equatable, Sendable {
    public var moment: MomentReport
    public var words: String

    public init(moment: MomentReport, words: String) {
        self.moment = moment
        self.words = words
    }
}

/// Which moments `GET /v1/moments` lists.
public struct MomentFilter: ControlQuery {
    /// Words that title, words, mood, place or day have, all of them.
    public var search: String?
    public var mood: String?
    public var favourites = false
    /// Local days, "2024-05-17", both counted.
    public var from: String?
    public var to: String?
    /// What is in the trash instead of what is not.
    public var trash = false

    public init() {}

    public static var fields: [QueryField<Self>] {
        [
            .text("search", \.search), .text("mood", \.mood), .flag("favourites", \.favourites), .text("from", \.from),
            .text("to", \.to), .flag("trash", \.trash),
        ]
    }
}

/// One size of a photo whose sealed bytes are a blob.
public struct PhotoSize: Codable, Equatable, Sendable {
    /// A media type: "image/jpeg".
    public var type: String
    /// In bytes, before it was sealed.
    public var size: Int
    /// 32 bytes: opens the stream of the blob, whose name is (vault, "photos", the photo's id).
    public var key: Data
    public var blob: String

    public init(type: String, size: Int, key: Data, blob: String) {
        self.type = type
        self.size = size
        self.key = key
        self.blob = blob
    }
}

/// A photo whose sealed sizes were put as blobs before, to become one of a new moment.
public struct NewPhoto: Codable, Sendable {
    /// Of the record; the name of its streams has it.
    public var id: String
    /// SHA-256 of the file that was chosen, 32 bytes.
    public var digest: Data
    /// Of the original, upright, in pixels.
    public var width: Int
    public var height: Int
    /// Seconds since 1970.
    public var taken: Double?
    public var original: PhotoSize
    public var medium: PhotoSize?
    /// A JPEG of 1 to 16,384 bytes.
    public var thumbnail: Data

    public init(
        id: String, digest: Data, width: Int, height: Int, taken: Double?, original: PhotoSize, medium: PhotoSize?,
        thumbnail: Data
    ) {
        self.id = id
        self.digest = digest
        self.width = width
        self.height = height
        self.taken = taken
        self.original = original
        self.medium = medium
        self.thumbnail = thumbnail
    }
}

/// `POST /v1/moments`: a moment with its photos, all of it or nothing.
public struct NewMoment: Codable, Sendable {
    /// 32 hexadecimal digits, chosen by the caller: sent twice it is added once.
    public var id: String
    /// At most 1,000 bytes.
    public var title: String
    /// At most 1 MiB.
    public var words: String
    public var date: Double
    public var offset: Int
    public var mood: String
    public var place: MomentPlace?
    public var favourite: Bool
    public var photos: [NewPhoto]

    public init(
        id: String, title: String, words: String, date: Double, offset: Int, mood: String, place: MomentPlace?,
        favourite: Bool, photos: [NewPhoto]
    ) {
        self.id = id
        self.title = title
        self.words = words
        self.date = date
        self.offset = offset
        self.mood = mood
        self.place = place
        self.favourite = favourite
        self.photos = photos
    }
}

/// `PATCH /v1/moments/{moment}`: what is absent stays as it is.
public struct ChangeMomentRequest: Codable, Sendable {
    public var favourite: Bool?
    /// Into the trash, or out of it.
    public var removed: Bool?

    public init(favourite: Bool? = nil, removed: Bool? = nil) {
        self.favourite = favourite
        self.removed = removed
    }
}

/// `POST /v1/photos/known`: which files are in the vault already.
public struct KnownPhotosRequest: Codable, Sendable {
    /// SHA-256 of each file, 32 bytes; at most 1,000.
    public var digests: [Data]
    public init(digests: [Data]) { self.digests = digests }
}

public struct KnownPhotos: Codable, Equatable, Sendable {
    public struct Place: Codable, Equatable, Sendable {
        public var moment: String
        public var photo: String
        /// Whether every moment with this photo is in the trash.
        public var isInTrash: Bool

        public init(moment: String, photo: String, isInTrash: Bool) {
            self.moment = moment
            self.photo = photo
            self.isInTrash = isInTrash
        }
    }

    /// In the order of the request; nil for a file that is not there.
    public var places: [Place?]
    public init(places: [Place?]) { self.places = places }
}

/// `GET /v1/photos/{photo}`: what it takes to open a photo of a moment.
public struct PhotoReport: Codable, Equatable, Sendable {
    public var id: String
    public var vault: String
    public var width: Int
    public var height: Int
    public var taken: Double?
    public var original: PhotoSize
    /// A JPEG of at most 2,048 pixels; nil where the original is one.
    public var medium: PhotoSize?
    /// A JPEG of at most 320 pixels.
    public var thumbnail: Data

    public init(
        id: String, vault: String, width: Int, height: Int, taken: Double?, original: PhotoSize, medium: PhotoSize?,
        thumbnail: Data
    ) {
        self.id = id
        self.vault = vault
        self.width = width
        self.height = height
        self.taken = taken
        self.original = original
        self.medium = medium
        self.thumbnail = thumbnail
    }
}
