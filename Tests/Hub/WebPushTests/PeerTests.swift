import Crypto
import Foundation
import HubAPI
import SystemTestSupport
import Testing

@testable import WebPush

/// Other implementations decrypt our messages and tokens, and we decrypt theirs.
@Suite(.requires(.path(PythonPeers.program)))
struct PeerTests {
    private struct Task: Encodable {
        var sealed: [String]?
        var `private`: String?
        var auth: String?
        var p256dh: String?
        var messages: [String]?
        var authorization: String?
    }

    private struct Answer: Decodable {
        var opened: [String]?
        var httpECE: [String]?
        var pywebpush: [String]?
        var valid: Bool?
        var altered: Bool?
    }

    private func run(_ task: Task) async throws -> Answer {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("peers.py").path
        let input = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
        let run = try await ChildProcess.run(PythonPeers.program, ["-B", script], input: .text(input))
        #expect(run.exit == .code(0), "\(run.errorOutput)")
        return try JSONDecoder().decode(Answer.self, from: Data(run.output.utf8))
    }

    private let messages = [Data(), Data([2]), Data("sealed".utf8), Data(repeating: 0xab, count: 3_072)]

    @Test func httpECEDecryptsOurMessages() async throws {
        let receiver = PushReceiver()
        let sealed = try messages.map { try MessageEncryption.encrypt($0, for: receiver.recipient(), paddedTo: 3_072) }
        let answer = try await run(
            Task(
                sealed: sealed.map { Base64URL.encode($0) }, private: Base64URL.encode(receiver.key.rawRepresentation),
                auth: receiver.auth))
        #expect(answer.opened?.map(Base64URL.decode) == messages)
    }

    @Test func messagesOfHTTPECEAndPywebpushAreDecrypted() async throws {
        let receiver = PushReceiver()
        let answer = try await run(
            Task(
                auth: receiver.auth, p256dh: receiver.p256dh,
                messages: messages.dropFirst().map { Base64URL.encode($0) }))
        for sealed in [answer.httpECE, answer.pywebpush] {
            let opened = try (sealed ?? []).map { try receiver.open(#require(Base64URL.decode($0))) }
            #expect(opened == Array(messages.dropFirst()))
        }
    }

    @Test func pyVAPIDAcceptsOnlyOurToken() async throws {
        let header = try ApplicationServerKey().authorization(
            for: "https://push.example.com/1", contact: "mailto:operator@example.org", expires: 4_000_000_000)
        let answer = try await run(Task(authorization: header))
        #expect(answer.valid == true && answer.altered == false)
    }
}
