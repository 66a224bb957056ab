import AsyncHTTPClient
import Foundation
import HubAPI
import HubStore
import Logging
import NIOSSL
import SystemTestSupport
import TestSupport
import Testing

@testable import HubServer

/// TLS with certificates from files, which are read again while streams are open.
@Suite(.requires(.program("openssl")))
struct TLSTests {
    private func makeCertificate(_ name: String, in directory: TemporaryDirectory) async throws {
        let run = try await ChildProcess.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost", "-keyout", directory.path("key.new"), "-out",
                directory.path("certificate.new"),
            ])
        #expect(run.exit == .code(0), "\(run.errorOutput)")
        try rename("key", in: directory)
        try rename("certificate", in: directory)
    }

    private func rename(_ name: String, in directory: TemporaryDirectory) throws {
        _ = try? FileManager.default.removeItem(atPath: directory.path(name + ".pem"))
        try FileManager.default.moveItem(atPath: directory.path(name + ".new"), toPath: directory.path(name + ".pem"))
    }

    /// The subject of the certificate that a new connection receives.
    private func shown(_ hub: HubUnderTest) async throws -> String {
        let run = try await ChildProcess.run(
            "openssl", ["s_client", "-connect", "localhost:\(hub.port)", "-servername", "localhost"], input: .text(""))
        return run.output.split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init) ?? run.errorOutput
    }

    @Test func aNewCertificateIsUsedAndOpenStreamsContinue() async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        var client = HTTPClient.Configuration()
        client.tlsConfiguration = tls
        let files = try TemporaryDirectory()
        try await makeCertificate("first", in: files)
        try await HubUnderTest.configured(client: client) { configuration, _ in
            configuration.certificate = .init(
                chainPath: files.path("certificate.pem"), keyPath: files.path("key.pem"))
        }.run { hub in
            let computer = try await hub.found()
            let stream = try await EventStream(hub, computer)
            try await stream.wait(for: "live")
            #expect(try await shown(hub).contains("first"))

            try await makeCertificate("second", in: files)
            // The files are checked once a minute.
            await eventually("the check is scheduled") { hub.time.sleeps.contains(.seconds(60)) }
            hub.time.advance(by: .seconds(61))
            await eventually("the second certificate is used") { try await shown(hub).contains("second") }
            try await hub.put(computer.record(), by: computer)
            try await stream.wait(forNumber: 1)

            // With an invalid certificate the earlier one stays in use.
            try Data("no certificate".utf8).write(to: files.url.appendingPathComponent("certificate.pem"))
            hub.server.reload()
            #expect(try await shown(hub).contains("second"))
            #expect(hub.log.lines.contains { $0.contains("can't be used") })
            try await makeCertificate("third", in: files)
            hub.server.reload()
            #expect(try await shown(hub).contains("third"))
            try await hub.put(computer.record(), by: computer)
            try await stream.wait(forNumber: 2)
        }
    }

    @Test func aPlainRequestToTheTLSPortIsNotAnswered() async throws {
        let files = try TemporaryDirectory()
        try await makeCertificate("first", in: files)
        var client = HTTPClient.Configuration()
        client.tlsConfiguration = .makeClientConfiguration()
        client.tlsConfiguration?.certificateVerification = .none
        try await HubUnderTest.configured(client: client) { configuration, _ in
            configuration.certificate = .init(
                chainPath: files.path("certificate.pem"), keyPath: files.path("key.pem"))
        }.run { hub in
            let port = hub.port
            let answer = try await onThread {
                let client = try RawClient(port: port)
                client.send("GET /v1/hub HTTP/1.1\r\nHost: h\r\n\r\n")
                return client.readAll()
            }
            #expect(!answer.contains("applocker-hub"))
            #expect(try await hub.request(.hub).status == 200)
        }
    }

    @Test func missingAndInvalidFilesAreNamed() async throws {
        let files = try TemporaryDirectory()
        try await makeCertificate("first", in: files)
        try files.write("nonsense", to: "bad.pem")
        for (chain, key) in [("bad.pem", "key.pem"), ("certificate.pem", "bad.pem"), ("absent.pem", "key.pem")] {
            let configuration = HubConfiguration(
                certificate: .init(chainPath: files.path(chain), keyPath: files.path(key)))
            #expect(throws: HubStartError.self) {
                try CertificateReloader(configuration.certificate!, logger: .init(label: "test"))
            }
        }
    }
}
