import TestSupport
import Testing

@testable import GateProtocol

@Suite struct MessageTests {
    static let daemonMessages: [DaemonMessage] = [
        .hello(version: 1), .settings(answerWithinMilliseconds: 30_000, maximumWaitingPerUser: 64), .beginApp(7),
        .appPath(7, .executable, path: Array("/usr/bin/a b".utf8)), .appPath(7, .privateDirectory, path: [0xff, 0x2f]),
        .appPath(7, .link, path: [0x2f, 0x61]), .appPath(7, .handle, path: [0, 1, 2]),
        .commitApp(7, guarded: true, sequence: 9), .setGuarded(.max, guarded: false, sequence: .max),
        .forgetApp(1, sequence: 2), .synchronised, .answer(.max, allow: true), .answer(3, allow: false),
        .protect(pid: 4_194_304), .instances(4, .freeze), .instances(4, .thaw), .instances(4, .close), .ping(.max),
        .denyWithoutAsking(.none), .denyWithoutAsking(.allButRoot), .denyWithoutAsking(.all),
    ]

    static let gateMessages: [GateMessage] = [
        .hello(version: 1, mode: .watched, orphansDenied: 3, refusal: 1),
        .launch(
            LaunchQuestion(
                launch: 1 << 40, app: 2, process: 3, parent: -1, user: 1000, loginUser: .max, deniedAtOnce: true,
                path: Array("/opt/x/y".utf8))),
        .execRequest(5, isLast: true, part: [1, 0, 2]), .execRequest(5, isLast: false, part: []),
        .ended(6, .processGone),
        .ended(6, .timedOut), .ended(6, .tooManyWaiting), .readDenied(1, process: 2, user: 3, path: [4]),
        .applied(1, sequence: 2, marks: 3, failures: 4), .filesChanged(1),
        .instancesReached(1, .close, count: 2), .pong(0),
        .file(1, isPresent: true, handle: [7, 8]), .file(1, isPresent: false, handle: []),
        .unguarded(1, count: 3),
        .denied(
            LaunchQuestion(
                launch: 1, app: 2, process: 3, parent: 4, user: 5, loginUser: 6, deniedAtOnce: true, path: [])),
    ]

    @Test(arguments: daemonMessages)
    func daemonMessageIsDecodedAsItWasEncoded(message: DaemonMessage) throws {
        #expect(try DaemonMessage(decoding: message.encoded()) == message)
    }

    @Test(arguments: gateMessages)
    func gateMessageIsDecodedAsItWasEncoded(message: GateMessage) throws {
        #expect(try GateMessage(decoding: message.encoded()) == message)
    }

    @Test func theBytesOfAnAnswerNeverChange() {
        #expect(
            DaemonMessage.answer(0x0102_0304_0506_0708, allow: true).encoded()
                == [9, 8, 7, 6, 5, 4, 3, 2, 1, 1])
    }

    @Test(arguments: daemonMessages)
    func everyTruncationOfAFixedMessageIsRefused(message: DaemonMessage) {
        if case .appPath = message { return }
        let bytes = message.encoded()
        for length in 0..<bytes.count {
            #expect(throws: GateProtocolError.truncated) { try DaemonMessage(decoding: Array(bytes[..<length])) }
        }
        #expect(throws: GateProtocolError.trailingBytes(1)) { try DaemonMessage(decoding: bytes + [0]) }
    }

    @Test func unknownValuesAreRefused() {
        #expect(throws: GateProtocolError.unknownKind(200)) { try DaemonMessage(decoding: [200]) }
        #expect(throws: GateProtocolError.unknownKind(0)) { try GateMessage(decoding: [0]) }
        #expect(throws: GateProtocolError.unknownValue(field: "allow", value: 2)) {
            try DaemonMessage(decoding: [9, 0, 0, 0, 0, 0, 0, 0, 0, 2])
        }
        #expect(throws: GateProtocolError.truncated) { try GateMessage(decoding: []) }
    }

    @Test func randomBytesNeverCrashTheReader() {
        var generator = RepeatableRandom()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...48, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if let message = try? DaemonMessage(decoding: bytes) { #expect(message.encoded() == bytes) }
            if let message = try? GateMessage(decoding: bytes) { #expect(message.encoded() == bytes) }
        }
    }
}
