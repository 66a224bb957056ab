import Foundation
import Glibc

public enum InstalledCompanion {
    /// - Parameter executable: the running program; symbolic links are resolved.
    /// - Returns: nil if none is installed.
    public static func directory(beside executable: String = "/proc/self/exe") -> String? {
        guard let resolved = realpath(executable, nil) else { return nil }
        defer { free(resolved) }
        let folder = URL(fileURLWithPath: String(cString: resolved)).deletingLastPathComponent()
        // For programs in PREFIX/bin, and in PREFIX/lib/applocker, where the package installs them.
        for share in ["../share", "../../share"] {
            let candidate = folder.appendingPathComponent("\(share)/applocker/web").standardizedFileURL.path
            if isCompanion(candidate) { return candidate }
        }
        // PACKAGE/.build/PLATFORM/debug
        let build = folder.deletingLastPathComponent().deletingLastPathComponent()
        let package = build.deletingLastPathComponent()
        guard build.lastPathComponent == ".build",
            FileManager.default.fileExists(atPath: package.appendingPathComponent("Package.swift").path)
        else { return nil }
        let candidate = package.appendingPathComponent("Web").path
        return isCompanion(candidate) ? candidate : nil
    }

    private static func isCompanion(_ directory: String) -> Bool {
        FileManager.default.fileExists(atPath: directory + "/index.html")
    }
}
