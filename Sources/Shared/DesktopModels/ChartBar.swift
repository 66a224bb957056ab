import Localization

/// One bar of a chart.
public struct ChartBar: Equatable, Sendable {
    public var name: String
    /// "12 launches, 2 denied, 1 wrong passcode".
    public var detail: String
    /// 0 to 1, of the largest.
    public var fraction: Double

    /// Bars whose lengths compare these values.
    static func bars(_ values: [(name: String, detail: String, value: Int)]) -> [ChartBar] {
        let most = Double(values.map(\.value).max() ?? 0)
        return values.map { name, detail, value in
            ChartBar(name: name, detail: detail, fraction: most > 0 ? Double(value) / most : 0)
        }
    }

    /// - Parameter month: from 0.
    static func name(ofMonth month: Int, year: Int) -> String {
        let names = [
            localized("January \(year)"), localized("February \(year)"), localized("March \(year)"),
            localized("April \(year)"), localized("May \(year)"), localized("June \(year)"),
            localized("July \(year)"), localized("August \(year)"), localized("September \(year)"),
            localized("October \(year)"), localized("November \(year)"), localized("December \(year)"),
        ]
        return names[month]
    }
}
