/// Columns of text, each as wide as its widest cell, two spaces apart; the last one is not padded.
struct Table {
    private let titles: [String]
    private var rows: [[String]] = []

    init(_ titles: [String]) { self.titles = titles }

    /// Makes cells safe for a terminal, so that a name can't forge another row.
    mutating func add(_ cells: [String]) { rows.append(cells.map(\.terminalSafe)) }

    /// The heading and the rows; empty without rows.
    func lines(_ paint: Paint, rowPaint: (Int, String) -> String = { $1 }) -> [String] {
        guard !rows.isEmpty else { return [] }
        let widths = titles.indices.map { column in
            ([titles] + rows).map { $0[column].count }.max() ?? 0
        }
        func joined(_ cells: [String]) -> String {
            let padded = cells.indices.map { column in
                let cell = cells[column]
                let isLast = column == cells.count - 1
                return isLast ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            var text = padded.joined(separator: "  ")
            while text.last == " " { text.removeLast() }
            return text
        }
        return [paint.strong(joined(titles))] + rows.indices.map { rowPaint($0, joined(rows[$0])) }
    }
}

/// The number of characters that distinguishes all of these ids, at least 8. Commands accept this prefix of an id.
func shownIDLength(_ ids: [String]) -> Int {
    let longest = ids.map(\.count).max() ?? 0
    return (8..<max(longest, 9)).first { length in Set(ids.map { $0.prefix(length) }).count == ids.count } ?? longest
}
