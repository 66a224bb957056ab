import Foundation

/// The Python in which `Packaging/python-peers` has installed what the tests compare with: Web Push of others, and a fuzzer
/// that reads OpenAPI.
public enum PythonPeers {
    public static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/python/bin/python3")
        .path
}
