import HubAPI
import NIOSSL
import Testing

@testable import HubClient

struct TLSFailureTests {
    private func failure(_ error: any Error) throws -> HubUnreachable? {
        TLSFailure.failure(error, at: try HubAddress("https://hub.example:8443"))
    }

    @Test func aConnectionThatEndsIsNotAnUntrustedCertificate() throws {
        let ended: [any Error] = [
            NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])), NIOSSLError.uncleanShutdown,
            BoringSSLError.syscallError,
        ]
        for error in ended {
            let found = try #require(try failure(error))
            #expect(found.code == .offline)
            #expect(found.description == "The secure connection to https://hub.example:8443 ended unexpectedly.")
        }
    }

    @Test func aCertificateThatCannotBeCheckedIsNotTrusted() throws {
        for error in [NIOSSLError.unableToValidateCertificate, .noCertificateToValidate] {
            let found = try #require(try failure(error))
            #expect(found.code == .certificate && found.description.hasPrefix("The hub's certificate is not trusted."))
        }
    }

    @Test func aCertificateForAnotherNameNamesTheOneThatWasAskedFor() throws {
        let found = try #require(try failure(NIOSSLExtraError.failedToValidateHostname))
        #expect(found.description.contains("is for another name than hub.example."))
    }

    @Test func otherErrorsAreNotOfTLS() throws {
        #expect(try failure(CancellationError()) == nil)
    }
}
