import ControlAPI

extension MomentStatistics {
    private var recordings: String {
        (videos > 0 ? counted(videos, "video") + ", " : "")
            + (voiceNotes > 0 ? counted(voiceNotes, "voice note") + ", " : "")
    }

    func lines(_ paint: Paint) -> [String] {
        guard moments > 0 else { return ["There are no moments yet."] }
        var lines = [
            paint.strong(
                "\(counted(moments, "moment")), \(counted(photos, "photo")), \(recordings)"
                    + "\(counted(favourites, "favourite")), \(counted(places, "place")), \(counted(days, "day"))")
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
