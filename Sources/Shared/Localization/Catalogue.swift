import Synchronization

/// Translations of messages into the person's language. Called on any thread.
public protocol Catalogue: Sendable {
    /// - Returns: nil where the catalogue has none.
    func translation(_ id: String, context: String?) -> String?

    /// - Returns: the form for this number; nil where the catalogue has none.
    func translation(_ id: String, plural: String, number: UInt) -> String?
}

/// The catalogue of this process. Without one, every message is in English.
public enum InstalledCatalogue {
    private static let installed = Mutex<(any Catalogue, WrittenSentences)?>(nil)

    static var current: (any Catalogue)? { installed.withLock { $0?.0 } }

    static var sentences: WrittenSentences? { installed.withLock { $0?.1 } }

    /// To be called as the program starts, before the first message.
    public static func install(_ catalogue: any Catalogue) {
        // `Scripts/translations` adds this entry to each catalogue.
        let list = catalogue.translation("sentences of other programs", context: "list")
        let sentences = WrittenSentences(list: list)
        installed.withLock { $0 = (catalogue, sentences) }
    }
}
