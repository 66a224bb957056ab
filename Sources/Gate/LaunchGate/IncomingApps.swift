import GateProtocol

/// Apps whose paths are being received, or read from the file of known apps.
struct IncomingApps {
    private static let maximumPaths = 16_384
    private var paths: [AppToken: [GuardedApp.Path]] = [:]

    mutating func begin(_ token: AppToken) { paths[token] = [] }

    /// - Returns: why the path is invalid; nil if it was added.
    mutating func append(_ path: PathBytes, _ kind: PathKind, of token: AppToken) -> String? {
        guard let count = paths[token]?.count else { return "it sent a path of app \(token) without beginning it" }
        guard kind == .handle || (path.first == UInt8(ascii: "/") && path.count <= 4096 && !path.contains(0)) else {
            return "it sent a path that is not absolute, is too long or holds a NUL"
        }
        guard count < Self.maximumPaths else { return "it sent more than \(Self.maximumPaths) paths of one app" }
        paths[token]?.append(GuardedApp.Path(kind: kind, bytes: path))
        return nil
    }

    /// - Returns: all paths of the app; nil if it was not begun.
    mutating func end(_ token: AppToken) -> [GuardedApp.Path]? { paths.removeValue(forKey: token) }
}
