import Foundation

/// Where a hub is: "https://hub.example", with a port where it is not the usual one, without a path.
public struct HubAddress: Hashable, Sendable, CustomStringConvertible {
    /// "https" or "http".
    public let scheme: String
    public let host: String
    public let port: Int?

    /// - Parameter allowsPlain: plain HTTP to another machine, as the owner requested.
    /// - Throws: `HubAddressError`.
    public init(_ text: String, allowsPlain: Bool = false) throws(HubAddressError) {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let parts = URLComponents(string: trimmed), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.host, !host.isEmpty, parts.path.isEmpty,
            parts.query == nil, parts.fragment == nil, parts.user == nil, parts.password == nil,
            parts.port.map({ (1...65_535).contains($0) }) ?? true
        else {
            throw HubAddressError("\"\(text)\" is not a hub's address; it looks like https://hub.example.")
        }
        self.scheme = scheme
        self.host = host
        port = parts.port
        guard scheme == "https" || isLoopback || allowsPlain else {
            throw HubAddressError(
                "\(text) would send the device's token over the network unencrypted. Use https://, or --insecure.")
        }
    }

    /// Whether it is this very machine.
    public var isLoopback: Bool {
        let name = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        return name == "localhost" || name == "::1" || (isIPv4 && name.hasPrefix("127."))
    }

    /// Whether it is an IP address in place of a name.
    public var isNumeric: Bool { host.contains(":") || isIPv4 }

    private var isIPv4: Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    public var description: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }
}

/// An address that can't be used.
public struct HubAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String
    init(_ sentence: String) { description = sentence }
}
