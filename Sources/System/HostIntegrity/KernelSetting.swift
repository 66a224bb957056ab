/// A setting of the kernel that weakens AppLocker, and that `KernelSettings` can make safe. The names are those of the
/// findings.
public enum KernelSetting: String, CaseIterable, Sendable {
    case tracing
    case coreFiles = "core-files"
    case userNamespaces = "user-namespaces"

    /// As sysctl(8) names it.
    public var key: String {
        switch self {
        case .tracing: "kernel.yama.ptrace_scope"
        case .coreFiles: "fs.suid_dumpable"
        case .userNamespaces: "kernel.unprivileged_userns_clone"
        }
    }

    /// What it is set to, where it is not safe yet.
    public var safeValue: Int { self == .tracing ? 1 : 0 }

    func isSafe(_ value: Int) -> Bool {
        switch self {
        case .tracing: value >= 1
        case .coreFiles: value != 1
        case .userNamespaces: value == 0
        }
    }

    var path: String { "/proc/sys/" + key.replacing(".", with: "/") }

    /// Whether a line of sysctl.d(5) sets it, and to what; nil if it sets something else, or nothing.
    func value(inLine line: some StringProtocol) -> String? {
        guard let separator = line.firstIndex(of: "=") else { return nil }
        func trimmed(_ text: some StringProtocol) -> String {
            String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        }
        var name = trimmed(line[..<separator])
        // "-" before it: failures are ignored. "/" and "." both separate its parts.
        if name.hasPrefix("-") { name.removeFirst() }
        guard trimmed(name).replacing("/", with: ".") == key else { return nil }
        return trimmed(line[line.index(after: separator)...])
    }
}

/// Why a setting of the kernel was not made safe.
public struct KernelSettingError: Error, Equatable, CustomStringConvertible {
    /// One sentence, or two.
    public let description: String

    init(_ description: String) { self.description = description }
}
