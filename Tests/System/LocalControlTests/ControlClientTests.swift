import ControlAPI
import Foundation
import LocalControl
import TestSupport
import Testing

@Suite struct ControlClientTests {
    @Test func aCallCarriesParameterQueryTokenAndBody() async throws {
        try await withServer { path, service in
            let reply: DoneReport = try await ControlClient(socketPath: path).call(
                .changeApp, parameter: "a/b c", query: [("x", "1&2")], token: "secret",
                body: ChangeAppRequest(onGrantEnd: "freeze"))
            #expect(reply.notes == ["changeApp"])
            let request = try #require(await service.requests.first)
            #expect(request.parameter == "a/b c")
            #expect(request.query == ["x": "1&2"])
            #expect(request.token == "secret")
            #expect(String(decoding: request.body, as: UTF8.self) == #"{"onGrantEnd":"freeze"}"#)
        }
    }

    @Test func aRefusalComesBackAsItWasThrown() async throws {
        let service = RecordingService()
        let refusal = ControlError(.lockedOut, "Too many.", retryAfterSeconds: 7)
        await service.refuse(with: refusal)
        try await withServer(service: service) { path, _ in
            await #expect(throws: refusal) {
                let _: DoneReport = try await ControlClient(socketPath: path).call(.status)
            }
        }
    }

    @Test func withoutADaemonTheErrorSaysWhatToStart() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("control.sock")
        let error = await #expect(throws: ControlClientError.self) {
            let _: DoneReport = try await ControlClient(socketPath: path).call(.status)
        }
        guard case .notRunning(path, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("applocker up") == true)
    }

    @Test func aDaemonThatIsBusyForTooLongIsNotSaidToBeAway() async throws {
        try await withServer { path, service in
            await service.hang()
            let client = ControlClient(socketPath: path, answerTimeout: .milliseconds(500))
            let error = await #expect(throws: ControlClientError.self) {
                let _: DoneReport = try await client.call(.status)
            }
            #expect(error == .noAnswer(seconds: 0))
            #expect(error?.description.contains("not running") == false)
        }
    }

    @Test func anAnswerOfAnotherShapeIsNotUnderstood() async throws {
        try await withServer { path, _ in
            let error = await #expect(throws: ControlClientError.self) {
                let _: StatusReport = try await ControlClient(socketPath: path).call(.status)
            }
            guard case .notUnderstood = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
