import ControlAPI
import DaemonCore
import Foundation
import HubClient
import SealedFormats

extension HubClient {
    /// The way to a hub as the owner set it.
    /// - Throws: `ControlError` with `badRequest` for an address that can't be used, or `HubUnreachable`.
    convenience init(_ settings: HubSettings, token: SecretBytes?) throws {
        let address: HubAddress
        do {
            address = try HubAddress(settings.url, allowsPlain: settings.isInsecure)
        } catch {
            throw ControlError(.badRequest, error.description)
        }
        try self.init(
            HubClientSettings(
                address: address, token: token.map { $0.withUnsafeBytes { Data($0) } },
                certificates: settings.certificates, proxy: settings.proxy))
    }
}
