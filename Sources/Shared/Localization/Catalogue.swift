import Synchronization

/// Translations of messages into the person's language. Called on any thread.
public protocol Catalogue: Sendable {
    /// - Returns: nil where the catalogue has none.
    func translation(_ id: String, context: String?) -> String?

    /// - Returns: the form for this number; nil where the catalogue has none.
    func translation(_ id: String, plural: String, number: UInt) -> String?

    /// - Parameter text: what the system says of an error: "No space left on device".
    /// - Returns: nil where the system has no translation.
    func systemMessage(_ text: String) -> String?
}

/// The catalogue of this process. Without one, every message is in English.
public enum InstalledCatalogue {
    private static let installed = Mutex<(any Catalogue)?>(nil)

    static var current: (any Catalogue)? { installed.withLock { $0 } }

    /// Read from the installed catalogue with the first sentence to translate, which many a prompt never has.
    /// `Scripts/translations` adds the list to each catalogue.
    static let sentences = WrittenSentences(
        list: current?.translation("sentences of other programs", context: "list"))

    /// To be called as the program starts, before the first message.
    public static func install(_ catalogue: any Catalogue) { installed.withLock { $0 = catalogue } }
}
