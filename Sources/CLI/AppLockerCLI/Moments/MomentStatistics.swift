import ControlAPI
import MomentTransfer

struct MomentStatistics: Encodable, Equatable {
    struct Mood: Encodable, Equatable {
        var mood: String
        var moments: Int
    }

    struct Year: Encodable, Equatable {
        var year: Int
        var moments: Int
        var photos: Int
    }

    var moments: Int
    var photos: Int
    var favourites: Int
    /// The number of different places.
    var places: Int
    /// The number of days with a moment.
    var days: Int
    /// "2019-06-14".
    var first: String?
    /// Most frequent first.
    var moods: [Mood]
    /// Newest first.
    var years: [Year]
    var daysTogether: Int?

    init(_ moments: [MomentReport], together: LocalDay?, today: LocalDay) {
        let days = moments.map(\.time.day)
        self.moments = moments.count
        photos = moments.reduce(0) { $0 + $1.photos.count }
        favourites = moments.count(where: \.favourite)
        places = Set(moments.compactMap { $0.place?.name?.lowercased() }).count
        self.days = Set(days).count
        first = days.min()?.text
        moods = Dictionary(grouping: moments.map(\.mood).filter { !$0.isEmpty }) { $0 }
            .map { Mood(mood: $0.key, moments: $0.value.count) }
            .sorted { ($1.moments, $0.mood) < ($0.moments, $1.mood) }
        years = Dictionary(grouping: moments) { $0.time.day.year }
            .map { Year(year: $0.key, moments: $0.value.count, photos: $0.value.reduce(0) { $0 + $1.photos.count }) }
            .sorted { $0.year > $1.year }
        daysTogether = together.map { max(0, today.daysSince1970 - $0.daysSince1970) }
    }

    func lines(_ paint: Paint) -> [String] {
        guard moments > 0 else { return ["There are no moments yet."] }
        var lines = [
            paint.strong(
                "\(counted(moments, "moment")), \(counted(photos, "photo")), \(counted(favourites, "favourite")), "
                    + "\(counted(places, "place")), \(counted(days, "day"))")
        ]
        if let first { lines.append("The first one was on \(first).") }
        if let daysTogether { lines.append("Together for \(counted(daysTogether, "day")).") }
        if !moods.isEmpty {
            lines.append(moods.map { "\($0.mood.terminalSafe) \($0.moments)" }.joined(separator: ", "))
        }
        var table = Table(["YEAR", "MOMENTS", "PHOTOS"])
        for year in years { table.add([String(year.year), String(year.moments), String(year.photos)]) }
        return lines + table.lines(paint)
    }
}
