import Foundation
import HTTPTypes
import HubAPI
import HubStore
import NIOCore
import Testing

@testable import HubServer

/// The address of a client, local clients, and who may found a household.
struct ClientTests {
    private func client(
        _ peer: String?, _ headers: [(String, String)] = [], trusted: [String] = [], host: String = "localhost:8440"
    ) throws -> Client {
        var request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
        for (name, value) in headers { request.headerFields.append(HTTPField(name: .init(name)!, value: value)) }
        return Client(
            peer: try peer.map { try SocketAddress(ipAddress: $0, port: 1) }, request: request,
            trustedProxies: trusted.map { AddressRange($0)! })
    }

    @Test func onlyATrustedProxyMayForwardAnAddress() throws {
        let forwarded = [("X-Forwarded-For", "203.0.113.9")]
        #expect(try client("198.51.100.1", forwarded).address == IPAddress("198.51.100.1"))
        #expect(try client("127.0.0.1", forwarded).address == IPAddress("127.0.0.1"))
        #expect(try client("127.0.0.1", forwarded, trusted: ["127.0.0.1"]).address == IPAddress("203.0.113.9"))
        #expect(try client(nil, forwarded, trusted: ["unix"]).address == IPAddress("203.0.113.9"))
        #expect(try client(nil, forwarded).address == nil)
        // The client's own value comes first and is ignored.
        let chain = [("X-Forwarded-For", "1.2.3.4, 203.0.113.9"), ("X-Forwarded-For", "10.0.0.2")]
        #expect(try client("10.0.0.1", chain, trusted: ["10.0.0.0/8"]).address == IPAddress("203.0.113.9"))
        #expect(
            try client("10.0.0.1", [("X-Forwarded-For", "junk")], trusted: ["10.0.0.0/8"]).address
                == IPAddress("10.0.0.1"))
        #expect(try client("::ffff:10.0.0.1").address == IPAddress("10.0.0.1"))
    }

    @Test func onlyADirectProgramOnThisMachineIsLocal() throws {
        #expect(try client("127.0.0.1").isLocal)
        #expect(try client("::1", host: "[::1]:8440").isLocal)
        #expect(try client(nil, host: "applocker").isLocal)
        #expect(try !client("192.168.1.2").isLocal)
        for header in ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host", "Origin"] {
            #expect(try !client("127.0.0.1", [(header, "1.2.3.4")], trusted: ["127.0.0.1"]).isLocal, "\(header)")
        }
        // A name that resolves to this machine, for example by DNS rebinding.
        #expect(try !client("127.0.0.1", host: "evil.example:8440").isLocal)
    }

    @Test func aRangeContainsAddressesWithItsPrefix() {
        #expect(AddressRange("10.0.0.0/8")!.contains(IPAddress("10.255.0.1")!))
        #expect(!AddressRange("10.0.0.0/8")!.contains(IPAddress("11.0.0.0")!))
        #expect(AddressRange("10.1.2.129/25")!.contains(IPAddress("10.1.2.200")!))
        #expect(!AddressRange("10.1.2.129/25")!.contains(IPAddress("10.1.2.1")!))
        #expect(AddressRange("0.0.0.0/0")!.contains(IPAddress("9.9.9.9")!))
        #expect(!AddressRange("0.0.0.0/0")!.contains(IPAddress("::1")!))
        #expect(AddressRange("fe80::/10")!.contains(IPAddress("fe9f::1")!))
        for bad in ["10.0.0.0/33", "10.0.0.0/", "10.0.0", "x", "", "10.0.0.0/-1", "::/129", "10.0.0.0/8/8"] {
            #expect(AddressRange(bad) == nil, "\(bad)")
        }
    }

    @Test func privateAddressesAreNotPublic() {
        for text in [
            "127.0.0.1", "10.1.1.1", "192.168.0.1", "172.16.5.5", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::",
            "::1",
            "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "224.0.0.1",
            "255.255.255.255", "ff02::1",
        ] { #expect(!IPAddress(text)!.isPublic, "\(text)") }
        for text in ["8.8.8.8", "142.250.1.1", "2a00:1450::1", "64:ff9b::808:808", "100.128.0.1"] {
            #expect(IPAddress(text)!.isPublic, "\(text)")
        }
    }

    @Test func aNewHouseholdRequiresTheTokenUnlessItsComputerIsLocal() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.registration = .token("registration token of the hub")
            configuration.trustedProxies = [AddressRange("127.0.0.1")!]
            // None is allowed again during the test.
            configuration.limits.failedTokens.perSecond = 0.001
        }.run { hub in
            _ = try await hub.found()
            func found(_ token: String?, from address: String) async throws -> Int {
                let device = TestDevice(household: .random(), role: .computer)
                let request = NewHouseholdRequest(
                    household: device.household, device: device.id, entry: Data([1]), tokenHash: device.tokenHash,
                    registrationToken: token)
                return try await hub.request(.foundHousehold, headers: [("X-Forwarded-For", address)], request).status
            }
            #expect(try await found(nil, from: "8.8.8.8") == 403)
            #expect(try await found("registration token of the hu", from: "8.8.8.8") == 403)
            #expect(try await found("registration token of the hub", from: "8.8.8.8") == 200)
            // A proxy on this machine does not make its clients local, even if it claims so.
            #expect(try await found(nil, from: "127.0.0.1") == 403)
            for _ in 0..<30 { _ = try await found("guess", from: "9.9.9.9") }
            #expect(try await found("guess", from: "9.9.9.9") == 429)
            let report = try await hub.request(.hub, headers: [("X-Forwarded-For", "8.8.8.8")]).decoded(HubReport.self)
            #expect(report.needsRegistrationToken)
        }
    }

    @Test func aMemberOfAHouseholdMayFoundAnotherWithoutTheToken() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.registration = .token("registration token of the hub")
            configuration.trustedProxies = [AddressRange("127.0.0.1")!]
        }.run { hub in
            let member = try await hub.found()
            func found(_ token: Data?) async throws -> Int {
                let device = TestDevice(household: .random(), role: .computer)
                let request = NewHouseholdRequest(
                    household: device.household, device: device.id, entry: Data([1]), tokenHash: device.tokenHash)
                return try await hub.request(
                    .foundHousehold, token: token, headers: [("X-Forwarded-For", "8.8.8.8")], request
                ).status
            }
            #expect(try await found(member.token) == 200)
            #expect(try await found(nil) == 403)
            #expect(try await found(.random(32)) == 403)
            #expect(try await hub.request(.removeHousehold, token: member.token).status == 204)
            #expect(try await found(member.token) == 403)
        }
    }

    @Test func metricsAreForLocalClientsAndTheMetricsToken() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.metricsToken = "metrics token of the hub"
        }.run {
            hub in
            let page = try await hub.request(.metrics)
            #expect(page.status == 200 && page.body.contains("# TYPE applocker_hub_requests_total counter"))
            let away = [("X-Forwarded-For", "8.8.8.8")]
            #expect(try await hub.request(.metrics, headers: away).status == 403)
            let token = [("Authorization", "Bearer metrics token of the hub")]
            #expect(try await hub.request(.metrics, headers: away + token).status == 200)
        }
    }
}
