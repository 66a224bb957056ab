import ControlAPI
import Localization

/// What the bars of Everline's chart compare.
public enum MomentChart: Int, CaseIterable, Sendable {
    case year, month, mood

    public var title: String {
        switch self {
        case .year: localized("By year")
        case .month: localized("By month")
        case .mood: localized("By mood")
        }
    }

    /// The most bars that are shown.
    private var limit: Int {
        switch self {
        case .year: 50
        case .month: 24
        case .mood: 20
        }
    }

    /// Newest first, years and months without a moment between others too; of moods the most frequent first.
    func bars(_ statistics: MomentStatistics) -> [ChartBar] {
        switch self {
        case .year:
            periods(statistics.years.map { ($0.year, $0.moments, $0.photos) }) { String($0) }
        case .month:
            periods(statistics.months.map { ($0.year * 12 + $0.month - 1, $0.moments, $0.photos) }) {
                ChartBar.name(ofMonth: $0 % 12, year: $0 / 12)
            }
        case .mood:
            ChartBar.bars(
                statistics.moods.prefix(limit).map { (moodName($0.mood), Self.moments($0.moments), $0.moments) })
        }
    }

    private typealias Period = (number: Int, moments: Int, photos: Int)

    private func periods(_ counts: [Period], name: (Int) -> String) -> [ChartBar] {
        guard let newest = counts.first?.number, let oldest = counts.last?.number else { return [] }
        let found = Dictionary(counts.map { ($0.number, $0) }) { $1 }
        let shown = (max(oldest, newest - limit + 1)...newest).reversed()
        return ChartBar.bars(
            shown.map { number in
                let (moments, photos) = found[number].map { ($0.moments, $0.photos) } ?? (0, 0)
                let detail = [Self.moments(moments)] + (photos > 0 ? [Self.photos(photos)] : [])
                return (name(number), detail.joined(separator: ", "), moments)
            })
    }

    static func moments(_ count: Int) -> String {
        localized(count, one: "\(count) moment", other: "\(count) moments")
    }

    static func photos(_ count: Int) -> String { localized(count, one: "\(count) photo", other: "\(count) photos") }
}

extension [MomentReport.Photo] {
    /// "2 photos", "1 video": only the kinds that there are.
    var counts: [String] {
        let (photos, videos, notes) = (count(of: nil), count(of: .video), count(of: .voice))
        return [
            (photos, MomentChart.photos(photos)),
            (videos, localized(videos, one: "\(videos) video", other: "\(videos) videos")),
            (notes, localized(notes, one: "\(notes) voice note", other: "\(notes) voice notes")),
        ].filter { $0.0 > 0 }.map(\.1)
    }
}

/// A mood as it is shown: the companion's own ones in the person's language, others as they were written.
func moodName(_ mood: String) -> String {
    switch mood {
    case "love": localized("Love")
    case "joy": localized("Joy")
    case "calm": localized("Calm")
    case "proud": localized("Proud")
    case "excited": localized("Excited")
    case "grateful": localized("Grateful")
    case "funny": localized("Funny")
    case "sad": localized("Sad")
    default: mood
    }
}
