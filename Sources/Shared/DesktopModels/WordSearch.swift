/// Whether a text contains all words of a search, in any order and in any case.
public func hasAllWords(_ search: String, in text: String) -> Bool {
    let text = text.lowercased()
    return search.lowercased().split(separator: " ").allSatisfy { text.contains($0) }
}
