import BlockingThread
import Foundation
import HubClient

/// The ways in which a phone can reach the hub, each as far as this computer can check it.
struct PhoneWays: Sendable {
    /// The hub's address as this computer reaches it.
    let hub: String
    let tailscale: Tailscale
    /// This computer's full name, if it has one.
    let name: String?
    /// An address that leads to this hub with a valid certificate.
    let working: String?

    /// - Parameter environment: PATH has the folders in which Tailscale is looked for.
    static func find(
        hub: String, check: PhoneAddressCheck, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async -> Self {
        async let tailscale = Tailscale.current(path: environment["PATH", default: "/usr/bin:/usr/sbin"])
        async let name = runBlocking { fullName() }
        return await find(hub: hub, tailscale: tailscale, name: name, check: check)
    }

    static func find(hub: String, tailscale: Tailscale, name: String?, check: PhoneAddressCheck) async -> Self {
        var working: String?
        for candidate in [tailscale.name, name].compactMap({ $0 }) where working == nil {
            let address = "https://\(candidate)"
            do throws(PhoneAddressProblem) {
                try await check.verify(address, own: hub)
                working = address
            } catch {}
        }
        return PhoneWays(hub: hub, tailscale: tailscale, name: name, working: working)
    }

    /// What a person can do, in a few lines. A sentence is one literal, by which the window's catalogue finds it.
    var lines: [String] {
        let own =
            name.map { "This computer's name \($0) doesn't lead to this hub." }
            ?? "This computer has none that is known here."
        let ways = [
            privateNetwork, ["A domain name with a certificate, whose port 443 leads to the hub.", own],
            ["A hub on a rented server: `applocker hub connect https://…`."],
        ]
        return ["A phone can reach this hub in these ways; docs/operations.md has each in detail.", ""]
            + ways.enumerated().flatMap { index, lines in
                lines.enumerated().map { ($0 == 0 ? "\(index + 1). " : "   ") + $1 }
            } + ["", "For a browser on this computer: `applocker panel`."]
    }

    private var privateNetwork: [String] {
        switch tailscale {
        case .notInstalled:
            return ["A private network such as Tailscale, on this computer and the phone.", "It isn't installed here."]
        case .notConnected:
            return ["Tailscale is installed here and not connected.", "Run `tailscale up`, then `applocker pair`."]
        case .withoutCertificates(let name):
            return [
                "Tailscale is connected here as \(name), without certificates.",
                "Turn on HTTPS in its admin console, then run `applocker pair`.",
            ]
        case .connected(let name):
            let port = (try? HubAddress(hub, allowsPlain: true))?.port ?? 8_440
            return [
                "Tailscale is connected here as \(name). Run these commands.", "  sudo tailscale serve --bg \(port)",
                "  applocker pair --address https://\(name)",
            ]
        }
    }

    /// As the resolver reports it; nil for a name without a domain, or one that is used only at home.
    private static func fullName() -> String? {
        var host = [CChar](repeating: 0, count: 256)
        guard gethostname(&host, host.count - 1) == 0 else { return nil }
        var hints = addrinfo()
        hints.ai_flags = AI_CANONNAME
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        guard let text = found.pointee.ai_canonname.map({ String(cString: $0).lowercased() }) else { return nil }
        let homes = ["local", "lan", "home", "internal", "localdomain", "home.arpa"]
        return text.contains(".") && !homes.contains { text.hasSuffix(".\($0)") } ? text : nil
    }
}

extension Tailscale {
    fileprivate var name: String? {
        if case .connected(let name) = self { name } else { nil }
    }
}
