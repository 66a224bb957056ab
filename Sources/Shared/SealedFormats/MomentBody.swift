public import Foundation

/// What is inside the record of a moment (docs/formats.md, "Moments and photos").
public struct MomentBody: Codable, Equatable, Sendable {
    /// Where it was: a name, a point, or both.
    public struct Place: Codable, Equatable, Sendable {
        public var name: String?
        /// Degrees, north and east positive; both or neither.
        public var latitude: Double?
        public var longitude: Double?

        public init(name: String?, latitude: Double? = nil, longitude: Double? = nil) {
            self.name = name
            self.latitude = latitude
            self.longitude = longitude
        }

        fileprivate var isRight: Bool {
            guard let latitude, let longitude else { return latitude == nil && longitude == nil && name != nil }
            return abs(latitude) <= 90 && abs(longitude) <= 180
        }
    }

    /// A photo, a video or a voice note as a moment names it.
    public struct Photo: Codable, Equatable, Sendable {
        public var id: ItemID
        /// Of the original, upright, in pixels; of a recording, of its poster.
        public var width: Int
        public var height: Int
        /// `PhotoHash`, 40 hexadecimal digits.
        public var hash: String
        /// What it shows, in the owner's words.
        public var description: String?
        /// "video" or "voice" of a recording; nil, or any other text, of a photo.
        public var kind: String?
        /// Of a recording, in seconds.
        public var duration: Double?

        public init(
            id: ItemID, width: Int, height: Int, hash: String, description: String? = nil, kind: String? = nil,
            duration: Double? = nil
        ) {
            self.description = description
            self.kind = kind
            self.duration = duration
            self.id = id
            self.width = width
            self.height = height
            self.hash = hash
        }

        fileprivate var isRight: Bool {
            PhotoBody.sides.contains(width) && PhotoBody.sides.contains(height) && hash.utf8.count == 40
                && duration.map { $0 > 0 && $0 <= MomentBody.maximumDuration } ?? true
                && hash.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        }
    }

    public var title: String
    public var words: String
    /// Seconds since 1970.
    public var date: Double
    /// The local time's offset from UTC, in minutes.
    public var offset: Int
    /// Empty if there is none.
    public var mood: String
    public var place: Place?
    public var photos: [Photo]
    public var favourite: Bool
    /// Seconds since 1970, as the next two.
    public var created: Double
    public var modified: Double
    /// When it was put in the trash.
    public var removed: Double?

    public init(
        title: String, words: String, date: Double, offset: Int, mood: String = "", place: Place? = nil,
        photos: [Photo] = [], favourite: Bool = false, created: Double, modified: Double, removed: Double? = nil
    ) {
        self.title = title
        self.words = words
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

    public static let maximumPhotos = 200
    /// Of a recording, in seconds.
    static let maximumDuration: Double = 359_999
    /// 0001-01-02 to 9999-12-31: a day with four digits of a year in every zone.
    public static let times: ClosedRange<Double> = -62_135_510_400...253_402_214_400
    public static let offsets = -1080...1080
    /// How long a moment stays in the trash, in seconds.
    public static let trashSeconds: Double = 30 * 86_400

    /// - Throws: `SealedFormatsError` with code `malformed`.
    public init(bytes: Data) throws(SealedFormatsError) {
        guard let body = try? JSONDecoder().decode(Self.self, from: bytes), body.isRight else { throw Self.malformed }
        self = body
    }

    /// - Throws: `SealedFormatsError` with code `malformed` for what no reader would take.
    public func bytes() throws(SealedFormatsError) -> Data {
        guard isRight, let bytes = try? PhotoBody.encoder.encode(self) else { throw Self.malformed }
        return bytes
    }

    private var isRight: Bool {
        [date, created, modified, removed ?? date].allSatisfy(Self.times.contains)
            && Self.offsets.contains(offset) && place?.isRight ?? true && photos.count <= Self.maximumPhotos
            && Set(photos.map(\.id)).count == photos.count && photos.allSatisfy(\.isRight)
    }

    private static var malformed: SealedFormatsError {
        SealedFormatsError(
            .malformed,
            "A moment has a title, words, a date from the year 1 to 9999, and at most 200 photos, each once.")
    }
}
