public import ControlAPI
public import Household

/// Finds installed apps. A user's own apps are found in that user's home directory.
public protocol AppResolver: Sendable {
    /// Looks up the app of each reference, in order.
    /// - Returns: for each reference its app, or `noSuchApp`, `ambiguousApp` or `essential`.
    func resolve(_ references: [String], user: UInt32) async -> [Result<ResolvedApp, ControlError>]
    /// The apps, and a sentence for each desktop entry that could not be read.
    func installed(user: UInt32) async -> (apps: [ResolvedApp], problems: [String])
    /// The installed apps that can be locked.
    func lockable(user: UInt32) async -> [OtherApp]
    /// The icons of apps. An app whose icon can't be sent is omitted.
    /// - Parameter names: by app, as a desktop entry names its icon.
    func icons(named names: [String: String], user: UInt32) async -> [RemoteIcon]
}

extension AppResolver {
    /// - Throws: `ControlError` with `noSuchApp`, `ambiguousApp` or `essential`.
    func resolve(_ reference: String, user: UInt32) async throws -> ResolvedApp {
        try await resolve([reference], user: user)[0].get()
    }
}
