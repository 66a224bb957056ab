import ControlAPI
import Foundation
import LocalControl
import TestSupport
import Testing

@Suite struct ControlClientTests {
    @Test func aCallSendsParameterTokenAndBody() async throws {
        try await withServer { path, service in
            let reply = try await ControlClient(socketPath: path).call(
                \.revokeDevice, parameter: "a/b c", token: "secret", body: PasscodeRequest(passcode: "x"))
            #expect(reply.notes == ["revokeDevice"])
            let request = try #require(await service.requests.first)
            #expect(request.parameter == "a/b c")
            #expect(request.token == "secret")
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"passcode":"x"}"#)
        }
    }

    @Test func aCallSendsItsQuery() async throws {
        try await withServer { path, service in
            try await ControlClient(socketPath: path).call(
                \.removeNote, parameter: "x", query: RemoveNoteQuery(version: "1&2"))
            let request = try #require(await service.requests.first)
            #expect(request.query == ["version": "1&2"])
            #expect(request.body.isEmpty)
        }
    }

    @Test func longWorkUsesTheVaultUntilItEnds() async throws {
        try await withServer { path, service in
            let result = try await ControlClient(socketPath: path).usingVault(every: .milliseconds(1)) {
                await eventually("it is used again") { await service.requests.count >= 2 }
                return 7
            }
            #expect(result == 7)
            let uses = await service.requests.count
            #expect(await service.requests.allSatisfy { $0.route == .knownPhotos })
            // Each takes longer than the period.
            for _ in 0..<50 { try await ControlClient(socketPath: path).call(\.removeNote, parameter: "x") }
            let later = await service.requests.count { $0.route == .knownPhotos } - uses
            // One that was under way when the work ended may arrive afterwards.
            #expect(later <= 1, "it is not used after the work")
        }
    }

    @Test func aRefusalIsRethrownUnchanged() async throws {
        let service = RecordingService()
        let refusal = ControlError(.lockedOut, "Too many.", retryAfterSeconds: 7)
        await service.refuse(with: refusal)
        try await withServer(service: service) { path, _ in
            await #expect(throws: refusal) {
                try await ControlClient(socketPath: path).call(\.status)
            }
        }
    }

    @Test func withoutADaemonTheErrorNamesTheCommandThatStartsIt() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("control.sock")
        let error = await #expect(throws: ControlClientError.self) {
            try await ControlClient(socketPath: path).call(\.status)
        }
        guard case .notRunning(path, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("applocker up") == true)
    }

    @Test func aDaemonThatIsBusyForTooLongIsNotReportedAsNotRunning() async throws {
        try await withServer { path, service in
            await service.hang()
            let client = ControlClient(socketPath: path, answerTimeout: .milliseconds(500))
            let error = await #expect(throws: ControlClientError.self) {
                try await client.call(\.status)
            }
            #expect(error == .noAnswer(seconds: 0))
            #expect(error?.description.contains("not running") == false)
        }
    }

    @Test func anAnswerOfAnotherTypeIsAnError() async throws {
        try await withServer { path, _ in
            let error = await #expect(throws: ControlClientError.self) {
                try await ControlClient(socketPath: path).call(\.status)
            }
            guard case .notUnderstood = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
