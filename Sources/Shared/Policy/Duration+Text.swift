extension Duration {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000),
        ("ns", 1),
    ]

    /// Reads "30s", "5m", "1h", "1h30m": whole numbers with h, m, s, ms, us or ns, the larger unit first.
    /// - Throws: `PolicyError` with code `invalidDuration`.
    public init(text: String) throws(PolicyError) {
        let error = PolicyError(
            .invalidDuration, "\(String(reflecting: text)) is not a duration; write it like 30s, 5m, 1h or 1h30m."
        )
        var total: Int64 = 0
        var rest = Substring(text.lowercased())
        var unitsLeft = Self.units[...]
        guard !rest.isEmpty else { throw error }
        while !rest.isEmpty {
            let digits = rest.prefix { "0"..."9" ~= $0 }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { "a"..."z" ~= $0 }
            rest = rest.dropFirst(letters.count)
            guard let number = Int64(digits), let index = unitsLeft.firstIndex(where: { $0.name == letters })
            else { throw error }
            let (part, tooLarge) = number.multipliedReportingOverflow(by: unitsLeft[index].nanoseconds)
            let (sum, sumTooLarge) = total.addingReportingOverflow(part)
            guard !tooLarge, !sumTooLarge else { throw error }
            total = sum
            unitsLeft = unitsLeft[(index + 1)...]
        }
        self = .nanoseconds(total)
    }

    /// The same text that `init(text:)` reads: "5m", "1h30m", "0s". Exact to the nanosecond.
    public var text: String {
        let (seconds, attoseconds) = components
        var rest = seconds.magnitude
        var parts = ""
        for (name, size) in [("h", UInt64(3600)), ("m", 60), ("s", 1)] where rest >= size {
            parts += "\(rest / size)\(name)"
            rest %= size
        }
        var nanoseconds = attoseconds.magnitude / 1_000_000_000
        for (name, size) in [("ms", UInt64(1_000_000)), ("us", 1000), ("ns", 1)] where nanoseconds >= size {
            parts += "\(nanoseconds / size)\(name)"
            nanoseconds %= size
        }
        return parts.isEmpty ? "0s" : (self < .zero ? "-" : "") + parts
    }
}
