import HubAPI
import NIOSSL

/// Why there is no secure connection to a hub. The libraries' errors are long and for their developers; the owner reads
/// one sentence.
enum TLSFailure {
    /// - Returns: nil for an error that is not one of TLS.
    static func failure(_ error: any Error, at address: HubAddress) -> HubUnreachable? {
        if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
            return HubUnreachable(
                .certificate,
                "The hub's certificate is for another name than \(address.host). Use the name that it is for, or fix the certificate."
            )
        }
        guard error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError else { return nil }
        switch reason(error) {
        case "CERTIFICATE_VERIFY_FAILED":
            return HubUnreachable(
                .certificate,
                "The hub's certificate is not trusted. If the hub has a certificate of its own, choose that as the one to trust (--ca); otherwise fix it at the hub."
            )
        case "WRONG_VERSION_NUMBER", "HTTP_REQUEST":
            return HubUnreachable(.certificate, "\(address) is not served by TLS. Check the address and the port.")
        case nil:
            return HubUnreachable(.offline, "The secure connection to \(address) ended unexpectedly.")
        case .some(let reason):
            return HubUnreachable(.certificate, "No secure connection to \(address) can be made (\(reason)).")
        }
    }

    /// BoringSSL's name of the failure, as in "error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at
    /// …"; nil where it gave none.
    private static func reason(_ error: any Error) -> String? {
        switch error as? NIOSSLError {
        case .noCertificateToValidate, .unableToValidateCertificate: "CERTIFICATE_VERIFY_FAILED"
        default: "\(error)".firstMatch(of: /OPENSSL_internal:([A-Z0-9_]+)/).map { String($0.1) }
        }
    }
}
