import Foundation
import HubAPI
import HubStore
import SystemTestSupport
import TestSupport
import Testing

@testable import HubServer

/// `docs/hub-openapi.json` describes the hub's routes, and a fuzzer tests the hub by it.
struct OpenAPITests {
    private var file: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/hub-openapi.json").standardizedFileURL.path
    }

    private func operations() throws -> [String: [String: Any]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        var operations: [String: [String: Any]] = [:]
        for (path, methods) in paths {
            for (method, operation) in methods { operations["\(method.uppercased()) \(path)"] = operation }
        }
        return operations
    }

    @Test func theDescriptionContainsExactlyTheHubsRoutes() throws {
        let operations = try operations()
        #expect(Set(operations.keys) == Set(HubRoute.allCases.map(\.rawValue)))
        for route in HubRoute.allCases {
            let operation = try #require(operations[route.rawValue])
            #expect(operation["operationId"] as? String == "\(route)")
            #expect((operation["security"] != nil) == (route.access != .anybody), "\(route)")
        }
    }

    /// Requests that match the description and requests that don't: no answer is a server error, each is in the
    /// description, and the hub keeps running.
    @Test(.requires(.path(PythonPeers.program)), .timeLimit(.minutes(10)))
    func aFuzzerFindsNoServerError() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1"
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.householdRequests = .none
            configuration.limits.deviceRequests = .none
            configuration.limits.addressRequests = .none
            configuration.limits.failedTokens = .none
            configuration.limits.arrivals = .none
            configuration.limits.quotaBytes = 1 << 60
        }.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            /// Operations that end the device are tested separately, afterwards. The stream never ends: see
            /// StreamTests.
            func fuzz(_ device: TestDevice, _ selection: [String]) async throws {
                let run = try await ChildProcess.run(
                    PythonPeers.program,
                    [
                        "-m", "schemathesis.cli", "run", file, "--url", "http://127.0.0.1:\(hub.port)", "--header",
                        "Authorization: Bearer \(HubUnderTest.text(device.token))", "--checks",
                        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
                        "--max-examples", isLong ? "200" : "5", "--seed", "1", "--phases",
                        isLong ? "examples,coverage,fuzzing" : "fuzzing",
                        "--no-color", "--request-timeout", "60",
                        // Of the fuzzer, which takes long to make an example on a busy machine.
                        "--suppress-health-check", "too_slow",
                    ] + selection, workingDirectory: hub.directory.path, timeout: .seconds(isLong ? 500 : 280))
                #expect(run.exit == .code(0), "\(run.output.suffix(6_000))\(run.errorOutput.suffix(1_000))")
            }
            let ending = ["leave", "removeHousehold"]
            for device in [computer, phone] {
                try await fuzz(device, (["stream"] + ending).flatMap { ["--exclude-operation-id", $0] })
                #expect(try await hub.request(.ownDevice, token: device.token).status == 200)
            }
            for (device, operation) in zip([phone, computer], ending) {
                try await fuzz(device, ["--include-operation-id", operation])
                #expect(try await hub.request(.ownDevice, token: device.token).status == 401)
            }
            #expect(try await hub.request(.health).status == 200)
        }
    }
}
