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
    private static let catalogue = Mutex<(any Catalogue)?>(nil)

    static var current: (any Catalogue)? { catalogue.withLock { $0 } }

    /// To be called as the program starts, before the first message.
    public static func install(_ new: any Catalogue) { catalogue.withLock { $0 = new } }
}
