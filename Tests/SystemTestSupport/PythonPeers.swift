import Foundation

/// The Python in which `Scripts/python-peers` has installed the tests' reference implementations: of Web Push, and a
/// fuzzer for OpenAPI.
public enum PythonPeers {
    public static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/python/bin/python3")
        .path
}
