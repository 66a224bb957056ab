import ControlAPI
import Foundation
import Testing

@testable import GateClient

/// What a denied launch needs to be started again, as the gate sends it.
@Suite struct ExecRequestPartsTests {
    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test func everyFieldArrivesAsItWasIncludingEmptyOnes() throws {
        let parts = Array(("/opt/x/run\0/home/a b\0" + "3\0run\0\0--title=ä\0HOME=/home/a\0EMPTY=\0").utf8)
        let execRequest = try #require(ExecRequest(parts: parts))
        #expect(execRequest.path == base64("/opt/x/run"))
        #expect(execRequest.directory == base64("/home/a b"))
        #expect(execRequest.arguments == ["run", "", "--title=ä"].map(base64))
        #expect(execRequest.environment == ["HOME=/home/a", "EMPTY="].map(base64))
    }

    @Test func bytesThatAreNoTextSurvive() throws {
        let parts = Array("/x\0/\u{0}1\0".utf8) + [0xff, 0xfe, 0]
        let execRequest = try #require(ExecRequest(parts: parts))
        #expect(execRequest.arguments == [Data([0xff, 0xfe]).base64EncodedString()])
        #expect(execRequest.environment.isEmpty)
    }

    @Test(arguments: [
        "", "/x", "/x\0/\0", "/x\0/\0" + "2\0one\0", "/x\0/\0many\0one\0", "/x\0/\0-1\0", "/x\0/\0" + "1\0one",
    ])
    func anythingElseIsRefused(parts: String) {
        #expect(ExecRequest(parts: Array(parts.utf8)) == nil)
    }
}
