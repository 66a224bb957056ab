import GateProtocol
import Testing

/// The exec request of a denied launch, as the gate sends it and the daemon reads it.
@Suite struct ExecRequestTests {
    typealias ExecRequest = GateProtocol.ExecRequest

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func everyFieldIsDecodedUnchangedIncludingEmptyOnes() throws {
        let encoded = bytes("/opt/x/run\0/home/a b\0" + "3\0run\0\0--title=ä\0HOME=/home/a\0EMPTY=\0")
        let execRequest = try #require(ExecRequest(decoding: encoded))
        #expect(execRequest.path == bytes("/opt/x/run"))
        #expect(execRequest.directory == bytes("/home/a b"))
        #expect(execRequest.arguments == ["run", "", "--title=ä"].map(bytes))
        #expect(execRequest.environment == ["HOME=/home/a", "EMPTY="].map(bytes))
        #expect(execRequest.encoded == encoded)
    }

    @Test func bytesThatAreNotUTF8AreKept() throws {
        let encoded = bytes("/x\0/\u{0}1\0") + [0xff, 0xfe, 0]
        let execRequest = try #require(ExecRequest(decoding: encoded))
        #expect(execRequest.arguments == [[0xff, 0xfe]])
        #expect(execRequest.environment.isEmpty)
        #expect(execRequest.encoded == encoded)
    }

    @Test(arguments: [
        "", "/x", "/x\0/\0", "/x\0/\0x\0", "/x\0/\0" + "2\0one\0", "/x\0/\0many\0one\0", "/x\0/\0-1\0",
        "/x\0/\0" + "1\0one", "/x\0/\0" + "99999999999999999999\0",
    ])
    func malformedExecRequestsAreRefused(_ text: String) { #expect(ExecRequest(decoding: bytes(text)) == nil) }

    @Test func partsOfSeveralLaunchesAreJoinedSeparately() throws {
        var assembler = GateProtocol.ExecRequestAssembler()
        #expect(try assembler.append([1], of: 5, isLast: false) == nil)
        #expect(try assembler.append([2], of: 6, isLast: false) == nil)
        #expect(try assembler.append([3], of: 5, isLast: true) == [1, 3])
        #expect(try assembler.append([4], of: 6, isLast: true) == [2, 4])
        #expect(try assembler.append([], of: 5, isLast: true) == [])
    }

    @Test func partsThatExceedTheLimitAreRefused() throws {
        var assembler = GateProtocol.ExecRequestAssembler()
        let largest = [UInt8](repeating: 65, count: GateProtocol.maximumExecRequestBytes)
        #expect(try assembler.append(largest, of: 5, isLast: false) == nil)
        #expect(throws: GateProtocolError.execRequestTooLong) { try assembler.append([65], of: 5, isLast: true) }
    }
}
