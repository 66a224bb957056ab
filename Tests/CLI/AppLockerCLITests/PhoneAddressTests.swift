import Foundation
import HubAPI
import HubClient
import TestSupport
import Testing

@testable import AppLockerCLI

@Suite("Addresses at which a phone can use the hub")
struct PhoneAddressTests {
    private let own = "http://127.0.0.1:8440"

    /// Hubs by address; everything else is unreachable.
    private func check(_ hubs: [String: String]) -> PhoneAddressCheck {
        PhoneAddressCheck { address in
            guard let key = hubs[address.description] else { throw HubUnreachable(.offline, "Nothing answers.") }
            return key
        }
    }

    private func problem(_ address: String, _ hubs: [String: String] = [:]) async -> PhoneAddressProblem? {
        do throws(PhoneAddressProblem) {
            try await check(hubs).verify(address, own: own)
            return nil
        } catch {
            return error
        }
    }

    @Test("An address that no phone can use is refused without a connection")
    func unusable() async {
        for address in [own, "http://localhost:8440", "https://localhost", "https://[::1]:8440"] {
            #expect(await problem(address) == .thisComputerOnly, "\(address)")
        }
        #expect(await problem("http://hub.example") == .unencrypted)
        #expect(await problem("http://192.168.1.5:8440") == .unencrypted)
        #expect(await problem("https://192.168.1.5:8440") == .unnamed)
        #expect(await problem("https://[fe80::1]") == .unnamed)
        for text in ["hub.example", "https://", "https://hub.example/path", "ftp://hub.example", "https://a@b"] {
            guard case .malformed = await problem(text) else {
                Issue.record("\(text) was accepted")
                continue
            }
        }
    }

    @Test("An address is verified by the hub that answers there")
    func verified() async {
        let name = "https://den-pc.example"
        #expect(await problem(name, [name: "key", own: "key"]) == nil)
        #expect(await problem(name, [name: "other", own: "key"]) == .anotherHub)
        #expect(await problem(name, [own: "key"]) == .unreachable("Nothing answers."))
        // The daemon reaches it by a proxy that this process doesn't have.
        #expect(await problem(name, [name: "key"]) == nil)
    }

    @Test("Another computer needs an address that is not its own, and no certificate")
    func computers() {
        #expect(throws: PhoneAddressProblem.thisComputerOnly) { try PhoneAddressCheck.verifyForComputer(own) }
        #expect(throws: Never.self) { try PhoneAddressCheck.verifyForComputer("http://192.168.1.5:8440") }
    }

    // MARK: Ways

    /// Runs a stand-in for Tailscale's program, which prints this.
    private func tailscale(printing report: String, status: Int = 0) async throws -> Tailscale {
        let directory = try TemporaryDirectory()
        let program = directory.url.appendingPathComponent("tailscale")
        try Data("#!/bin/sh\n[ \"$*\" = \"status --json\" ] || exit 9\ncat <<'E'\n\(report)\nE\nexit \(status)\n".utf8)
            .write(to: program)
        // The confined process may be another user's.
        for path in [directory.path, program.path] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return await Tailscale.current(path: "/nowhere:\(directory.path)")
    }

    @Test("Tailscale's state is read from its own report")
    func tailscaleStates() async throws {
        #expect(await Tailscale.current(path: "/nowhere") == .notInstalled)
        let name = "den-pc.tail1234.ts.net"
        let own = #""Self": {"DNSName": "\#(name).", "Online": true}"#
        let (running, stopped) = (#""BackendState": "Running""#, #""BackendState": "Stopped""#)
        #expect(
            try await tailscale(printing: "{\(running), \(own), \"CertDomains\": [\"\(name)\"]}")
                == .connected(name: name))
        #expect(
            try await tailscale(printing: "{\(running), \(own), \"CertDomains\": null}")
                == .withoutCertificates(name: name))
        for report in [
            "{\(stopped), \(own)}", "{\(running)}", "not JSON", "",
            "{\(running), \"Self\": {\"DNSName\": \"a b.example\"}}",
            "{\(running), \"Self\": {\"DNSName\": \"\(String(repeating: "a", count: 300)).example\"}}",
        ] {
            #expect(try await tailscale(printing: report) == .notConnected, "\(report.prefix(60))")
        }
        #expect(try await tailscale(printing: "", status: 1) == .notConnected)
    }

    @Test("A way that already leads to this hub is used; otherwise each is listed with its next step")
    func ways() async throws {
        let name = "den-pc.tail1234.ts.net"
        func ways(_ tailscale: Tailscale, _ hubs: [String: String]) async -> PhoneWays {
            await PhoneWays.find(hub: own, tailscale: tailscale, name: nil, check: check(hubs))
        }
        let ready = await ways(.connected(name: name), ["https://\(name)": "key", own: "key"])
        #expect(ready.working == "https://\(name)")
        let foreign = await ways(.connected(name: name), ["https://\(name)": "other", own: "key"])
        #expect(foreign.working == nil)
        #expect(foreign.lines.contains { $0.contains("tailscale serve --bg 8440") })
        #expect(foreign.lines.contains { $0.contains("applocker pair --address https://\(name)") })
        #expect(await ways(.notConnected, [:]).lines.contains { $0.contains("tailscale up") })
        #expect(await ways(.withoutCertificates(name: name), [:]).lines.contains { $0.contains("Turn on HTTPS") })
        #expect(await ways(.notInstalled, [:]).lines.contains { $0.contains("isn't installed") })
        let named = await PhoneWays.find(
            hub: own, tailscale: .notInstalled, name: "den.example",
            check: check(["https://den.example": "k", own: "k"]))
        #expect(named.working == "https://den.example")
    }
}
