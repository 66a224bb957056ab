public import Foundation
public import Policy

/// An app with all its files.
public struct ResolvedApp: Hashable, Codable, Sendable {
    public var id: AppID
    public var name: String
    public var icon: String?
    /// "desktop", "flatpak", "snap", "appimage" or "executable".
    public var kind: String
    /// The user who added it. The app may be installed for that user alone.
    public var user: UInt32
    /// Absolute paths.
    public var executables: [String]
    public var privateDirectories: [String]
    public var sharedWith: [String]
    /// Absolute paths that contain symbolic links. Their current targets belong to the app.
    public var links: [String]
    /// Handles of files that a user can move.
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
