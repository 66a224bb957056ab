public import Foundation
public import Policy
public import SealedFormats
public import WireProtocol

/// The time, and waiting for it.
public protocol TimeSource: Sendable {
    func now() -> Moment
    /// Seconds since 1970 by the wall clock, for the log only: nothing is decided by it.
    func wallClock() -> Double
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// Small documents that are written whole.
public protocol DocumentStore: Sendable {
    func document(_ name: String) async throws -> [UInt8]?
    /// Durable when it returns; on failure the earlier document stays.
    func save(_ bytes: [UInt8], as name: String) async throws
}

/// A stored document that this version can't read. The daemon does not start then: with an empty one in its place
/// everything would be open.
public struct UnreadableState: Error, CustomStringConvertible {
    public let document: String
    public let cause: String

    public var description: String {
        "What is stored as \"\(document)\" can't be read (\(cause)). Restore the state from a backup."
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8], named document: String) throws
        -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw UnreadableState(document: document, cause: "\(error)")
        }
    }
}

/// The activity log.
public protocol ActivityStore: Sendable {
    /// Durable when it returns. The events' numbers are given by the store, in order.
    func append(_ events: [ActivityEvent]) async throws
    /// The newest `limit` events with a number above `after`, oldest first.
    /// - Parameter user: whose events; nil for all.
    func events(after number: Int64, limit: Int, app: String?, user: UInt32?) async throws -> [EventReport]
    /// - Parameter user: of whose events; nil for all.
    func statistics(since time: Double, user: UInt32?) async throws -> [AppStatistics]
    /// Follows the whole hash chain, without keeping other readers waiting.
    /// - Parameter known: a head that somebody kept; the log has to hold it.
    /// - Throws: `CancellationError` where the task is cancelled.
    func verifyLog(known: AuditChain.Head?) async throws -> LogVerification
}

extension ActivityStore {
    /// Everybody's.
    public func events(after number: Int64, limit: Int, app: String?) async throws -> [EventReport] {
        try await events(after: number, limit: limit, app: app, user: nil)
    }

    /// Of everybody's events.
    public func statistics(since time: Double) async throws -> [AppStatistics] {
        try await statistics(since: time, user: nil)
    }
}

/// An app with everything that makes it.
public struct ResolvedApp: Hashable, Codable, Sendable {
    public var id: AppID
    public var name: String
    public var icon: String?
    /// "desktop", "flatpak", "snap", "appimage" or "executable".
    public var kind: String
    /// Who added it: the app may be installed for that user alone.
    public var user: UInt32
    /// Absolute paths.
    public var executables: [String]
    public var privateDirectories: [String]
    public var sharedWith: [String]
    /// Absolute paths with links on their way: what they lead to is the app, whatever that is by now.
    public var links: [String]
    /// Its files that a user can move, as the gate knows them.
    public var handles: [Data] = []

    public init(
        id: AppID, name: String, icon: String?, kind: String, user: UInt32, executables: [String],
        privateDirectories: [String], sharedWith: [String], links: [String] = []
    ) {
        self.links = links
        self.id = id
        self.name = name
        self.icon = icon
        self.kind = kind
        self.user = user
        self.executables = executables
        self.privateDirectories = privateDirectories
        self.sharedWith = sharedWith
    }
}

/// What is installed. A user's own apps are found in that user's home.
public protocol AppResolver: Sendable {
    /// Looks up what each reference means, in their order.
    /// - Returns: for each its app, or `noSuchApp`, `ambiguousApp` or `essential`.
    func resolve(_ references: [String], user: UInt32) async -> [Result<ResolvedApp, ControlError>]
    /// The apps, and a sentence for each desktop entry that could not be read.
    func installed(user: UInt32) async -> (apps: [ResolvedApp], problems: [String])
    /// Those of them that can be locked.
    func lockable(user: UInt32) async -> [OtherApp]
}

extension AppResolver {
    /// - Throws: `ControlError` with `noSuchApp`, `ambiguousApp` or `essential`.
    func resolve(_ reference: String, user: UInt32) async throws -> ResolvedApp {
        try await resolve([reference], user: user)[0].get()
    }
}

/// What the system knows of its users and processes.
public protocol ProcessDirectory: Sendable {
    /// For people; nothing is decided by it.
    func userName(_ user: UInt32) -> String?
    /// For people; nothing is decided by it.
    func processName(_ process: Int32) -> String?
    /// The real user of a running process.
    func owner(of process: Int32) -> UInt32?
    /// Who logged in and then started the process, as anybody; nil where the kernel does not know.
    func loginUser(of process: Int32) -> UInt32?
}
