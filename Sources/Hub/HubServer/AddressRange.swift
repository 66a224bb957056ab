import Glibc

/// An IP address as its 4 or 16 bytes. An IPv4-mapped IPv6 address (::ffff:a.b.c.d) is stored as the IPv4 address.
struct IPAddress: Hashable, Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        self.bytes = bytes.count == 16 && Array(bytes.prefix(12)) == mapped ? Array(bytes.suffix(4)) : bytes
    }

    /// Accepts what inet_pton(3) accepts; a scope ("%eth0") is ignored.
    init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: four, Array.init))
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        self.init(bytes: withUnsafeBytes(of: six, Array.init))
    }

    var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1] }

    /// The key under which limits are counted: one IPv4 address, or one IPv6 network of 64 bits, which is what a home
    /// gets.
    var countedAs: [UInt8] { bytes.count == 4 ? bytes : Array(bytes.prefix(8)) }

    /// Whether the address is reachable from the whole internet: not in the special-purpose registries of RFC 6890, and
    /// neither is the IPv4 address that an IPv6 address contains.
    var isPublic: Bool { !Self.special.contains { $0.contains(self) } && embedded.map(\.isPublic) ?? true }

    /// The IPv4 address inside one of 6to4 (RFC 3056), NAT64 (RFC 6052) or the deprecated compatible form.
    private var embedded: IPAddress? {
        guard bytes.count == 16 else { return nil }
        if bytes.starts(with: [0x20, 0x02]) { return IPAddress(bytes: Array(bytes[2..<6])) }
        if bytes.starts(with: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return IPAddress(bytes: Array(bytes.suffix(4)))
        }
        return nil
    }

    private static let special: [AddressRange] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "::/96", "::1/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20",
        "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { AddressRange($0) }
}

/// Addresses with a common prefix: "10.0.0.0/8", or one address, or "unix" for the peers of a Unix socket.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    private let address: IPAddress?
    private let bits: Int
    public let description: String

    /// Nil if the text is none of these.
    public init?(_ text: String) {
        description = text
        guard text != "unix" else {
            address = nil
            bits = 0
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        let all = address.bytes.count * 8
        guard parts.count == 1 || parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
            let bits = parts.count == 1 ? all : Int(parts[1]), (0...all).contains(bits)
        else { return nil }
        self.address = address
        self.bits = bits
    }

    /// Whether it is "unix".
    var isUnixSocket: Bool { address == nil }

    func contains(_ other: IPAddress) -> Bool {
        guard let address, address.bytes.count == other.bytes.count else { return false }
        let whole = bits / 8
        guard address.bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
        guard bits % 8 != 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xff00 >> (bits % 8))
        return address.bytes[whole] & mask == other.bytes[whole] & mask
    }
}
