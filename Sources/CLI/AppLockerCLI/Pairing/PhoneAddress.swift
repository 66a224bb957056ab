import HubAPI
import HubClient

/// Why a phone's browser can't use the hub at an address, or why that could not be verified.
enum PhoneAddressProblem: Error, Equatable {
    /// Not an address at all; the sentence.
    case malformed(String)
    case thisComputerOnly
    /// Browsers allow keys, offline use and notifications only over HTTPS.
    case unencrypted
    /// An IP address: browsers refuse passkeys there, and public certificates are rare.
    case unnamed
    /// The sentence.
    case unreachable(String)
    case anotherHub

    /// Each is one literal, by which the window's catalogue finds it.
    func sentence(_ address: String) -> String {
        switch self {
        case .malformed(let sentence): sentence
        case .thisComputerOnly: "No other device can use \(address): only this computer reaches it."
        case .unencrypted: "A phone can't use \(address): browsers store keys and show notifications only over https."
        case .unnamed:
            "A phone can't use \(address): browsers need a host name with a certificate, not an IP address."
        case .unreachable(let sentence): "\(address) can't be verified: \(sentence)"
        case .anotherHub: "\(address) leads to another hub than the one of this computer."
        }
    }
}

/// Checks from this computer whether a phone can reach the hub at an address.
struct PhoneAddressCheck: Sendable {
    /// The push key of the hub at an address, by which hubs are distinguished: every address of a hub has the same.
    /// Throws `HubUnreachable` or `HubError`.
    let pushKey: @Sendable (HubAddress) async throws -> String

    /// - Parameter certificates: PEM file with the certificates that the phone trusts, if not the public ones.
    static func overNetwork(certificates: String?) -> Self {
        Self { address in
            try await HubClient(HubClientSettings(address: address, certificates: certificates)).hub().pushKey
        }
    }

    /// - Parameter own: the hub's address as this computer reaches it.
    /// - Throws: `PhoneAddressProblem`.
    func verify(_ text: String, own: String) async throws(PhoneAddressProblem) {
        let address = try Self.parse(text)
        if address.isLoopback { throw .thisComputerOnly }
        guard address.scheme == "https" else { throw .unencrypted }
        guard !address.isNumeric else { throw .unnamed }
        let found: String
        do {
            found = try await pushKey(address)
        } catch {
            throw .unreachable((error as? HubUnreachable)?.sentence ?? "No hub answers there.")
        }
        // The daemon may reach the hub by a proxy or a certificate that this process doesn't have.
        guard let own = try? HubAddress(own, allowsPlain: true), own != address,
            let expected = try? await pushKey(own)
        else { return }
        guard found == expected else { throw .anotherHub }
    }

    /// Another computer needs neither HTTPS nor a name, but an address that is not its own.
    static func verifyForComputer(_ text: String) throws(PhoneAddressProblem) {
        if try parse(text).isLoopback { throw .thisComputerOnly }
    }

    private static func parse(_ text: String) throws(PhoneAddressProblem) -> HubAddress {
        do throws(HubAddressError) {
            return try HubAddress(text, allowsPlain: true)
        } catch {
            throw .malformed(error.description)
        }
    }
}
