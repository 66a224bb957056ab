/// Counts of moments: what `applocker moments stats` and the window show of `GET /v1/moments`.
public struct MomentStatistics: Encodable, Equatable, Sendable {
    public struct Mood: Encodable, Equatable, Sendable {
        public var mood: String
        public var moments: Int

        public init(mood: String, moments: Int) { (self.mood, self.moments) = (mood, moments) }
    }

    public struct Year: Encodable, Equatable, Sendable {
        public var year: Int
        public var moments: Int
        public var photos: Int

        public init(year: Int, moments: Int, photos: Int) {
            (self.year, self.moments, self.photos) = (year, moments, photos)
        }
    }

    public struct Month: Encodable, Equatable, Sendable {
        public var year: Int
        /// From 1.
        public var month: Int
        public var moments: Int
        public var photos: Int

        public init(year: Int, month: Int, moments: Int, photos: Int) {
            (self.year, self.month, self.moments, self.photos) = (year, month, moments, photos)
        }
    }

    public var moments: Int
    public var photos: Int
    public var videos: Int
    public var voiceNotes: Int
    public var favourites: Int
    /// The number of different places.
    public var places: Int
    /// The number of days with a moment.
    public var days: Int
    /// "2019-06-14".
    public var first: String?
    /// Most frequent first.
    public var moods: [Mood]
    /// Those with a moment, newest first.
    public var years: [Year]
    /// Those with a moment, newest first.
    public var months: [Month]
    public var daysTogether: Int?

    /// - Parameter together: the day from which the days together are counted.
    public init(_ moments: [MomentReport], together: LocalDay? = nil, today: LocalDay? = nil) {
        let days = moments.map { LocalDay(date: $0.date, offset: $0.offset) }
        self.moments = moments.count
        func count(_ kind: RecordingKind?) -> Int { moments.reduce(0) { $0 + $1.photos.count(of: kind) } }
        photos = count(nil)
        videos = count(.video)
        voiceNotes = count(.voice)
        favourites = moments.count(where: \.favourite)
        places = Set(moments.compactMap { $0.place?.name?.lowercased() }).count
        self.days = Set(days).count
        first = days.min()?.text
        moods = Dictionary(grouping: moments.map(\.mood).filter { !$0.isEmpty }) { $0 }
            .map { Mood(mood: $0.key, moments: $0.value.count) }
            .sorted { ($1.moments, $0.mood) < ($0.moments, $1.mood) }
        var photosOfMonths: [Int: [Int]] = [:]
        for (day, moment) in zip(days, moments) {
            photosOfMonths[day.year * 12 + day.month - 1, default: []].append(moment.photos.count(of: nil))
        }
        let months = photosOfMonths.sorted { $0.key > $1.key }.map { month, photos in
            Month(year: month / 12, month: month % 12 + 1, moments: photos.count, photos: photos.reduce(0, +))
        }
        self.months = months
        years = Dictionary(grouping: months, by: \.year)
            .map { year, months in
                Year(
                    year: year, moments: months.reduce(0) { $0 + $1.moments },
                    photos: months.reduce(0) { $0 + $1.photos })
            }
            .sorted { $0.year > $1.year }
        if let together, let today { daysTogether = max(0, today.daysSince1970 - together.daysSince1970) }
    }
}
