import Testing

@testable import GateProtocol

@Suite struct KnownAppsTests {
    private let apps: [[(kind: PathKind, path: [UInt8])]] = [
        [(.executable, Array("/usr/bin/a".utf8)), (.privateDirectory, Array("/opt/a".utf8))],
        [],
        [(.link, Array("/opt/current/b".utf8)), (.handle, [0, 1, 255])],
    ]

    @Test func everyAppIsDecodedAsItWasEncoded() throws {
        #expect(
            try KnownApps.decoded(KnownApps.encoded(apps)) == [
                .beginApp(1), .appPath(1, .executable, path: Array("/usr/bin/a".utf8)),
                .appPath(1, .privateDirectory, path: Array("/opt/a".utf8)), .commitApp(1, guarded: true, sequence: 0),
                .beginApp(2), .commitApp(2, guarded: true, sequence: 0),
                .beginApp(3), .appPath(3, .link, path: Array("/opt/current/b".utf8)),
                .appPath(3, .handle, path: [0, 1, 255]), .commitApp(3, guarded: true, sequence: 0),
            ])
        #expect(try KnownApps.decoded(KnownApps.encoded([])) == [])
    }

    @Test func aTruncatedFileIsRefusedOrEndsAtAMessageBoundary() throws {
        let whole = KnownApps.encoded(apps)
        let messages = try KnownApps.decoded(whole)
        var accepted = 0
        for length in 0..<whole.count {
            guard let part = try? KnownApps.decoded(Array(whole[..<length])) else { continue }
            #expect(part == Array(messages.prefix(part.count)))
            accepted += 1
        }
        #expect(accepted == messages.count, "after the hello, and after each message but the last")
    }

    @Test func anInvalidListIsRefused() {
        var otherVersion = KnownApps.encoded(apps)
        otherVersion[5] &+= 1
        #expect(throws: GateProtocolError.version(GateProtocol.version + 1)) { try KnownApps.decoded(otherVersion) }
        #expect(throws: GateProtocolError.truncated) { try KnownApps.decoded([]) }
        #expect(throws: GateProtocolError.truncated) { try KnownApps.decoded([255, 255, 255, 255, 1]) }
        #expect(throws: GateProtocolError.truncated) { try KnownApps.decoded([0, 0, 0, 0]) }
        #expect(throws: GateProtocolError.trailingBytes(1)) { try KnownApps.decoded([4, 0, 0, 0, 1, 2, 0, 9]) }
    }
}
