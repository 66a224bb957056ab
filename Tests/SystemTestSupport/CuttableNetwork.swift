import Glibc

/// A link between this machine and a network namespace of the test's own, which can be cut so that packets are lost
/// silently. Needs root.
public final class CuttableNetwork: Sendable {
    public struct Failed: Error, CustomStringConvertible {
        public let description: String
    }

    /// The namespace's name: `ip netns exec NAME`.
    public let name: String
    /// The address in the namespace.
    public let address: String
    private let device: String

    public init() async throws {
        name = "applocker-\(getpid())-\(UInt16.random(in: 0 ... .max))"
        device = "al\(UInt32.random(in: 0 ... .max))"
        // From the range that is reserved for benchmarks of networks, RFC 2544.
        let prefix = "198.18.\(UInt8.random(in: 0 ... .max))"
        let start = Int.random(in: 0..<63) * 4
        address = "\(prefix).\(start + 2)"
        try await ip("netns", "add", name)
        try await ip("link", "add", device, "type", "veth", "peer", "name", "far", "netns", name)
        try await ip("addr", "add", "\(prefix).\(start + 1)/30", "dev", device)
        try await ip("link", "set", device, "up")
        try await ip("-n", name, "addr", "add", "\(address)/30", "dev", "far")
        try await ip("-n", name, "link", "set", "lo", "up")
        try await restore()
    }

    public func cut() async throws { try await ip("-n", name, "link", "set", "far", "down") }

    public func restore() async throws { try await ip("-n", name, "link", "set", "far", "up") }

    /// Processes that still run in the namespace keep it until they end.
    public func remove() async {
        try? await ip("link", "del", device)
        try? await ip("netns", "del", name)
    }

    private func ip(_ arguments: String...) async throws {
        let done = try await ChildProcess.run("ip", arguments)
        guard done.exit == .code(0) else { throw Failed(description: "ip \(arguments): \(done.errorOutput)") }
    }
}
