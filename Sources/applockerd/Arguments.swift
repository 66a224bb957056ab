/// `applockerd --state DIR [--no-hub]`: started by `applocker up` or by the system, not by people.
struct Arguments {
    var state: String

    /// - Throws: `StartError.usage`.
    init(_ words: [String]) throws {
        var state: String?
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--state":
                guard let value = rest.popFirst(), value.hasPrefix("/") else {
                    throw StartError.usage("--state needs an absolute path.")
                }
                state = value
            // There is no hub yet to be connected to; the word is accepted so that scripts can rely on it.
            case "--no-hub": break
            default: throw StartError.usage("\(word) is not an option of the daemon.")
            }
        }
        guard let state else { throw StartError.usage("--state is missing.") }
        self.state = state
    }
}
