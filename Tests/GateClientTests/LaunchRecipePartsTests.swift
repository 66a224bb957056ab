import Foundation
import Testing
import WireProtocol

@testable import GateClient

/// What a denied launch needs to be started again, as the gate sends it.
@Suite struct LaunchRecipePartsTests {
    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test func everyFieldArrivesAsItWasIncludingEmptyOnes() throws {
        let parts = Array(("/opt/x/run\0/home/a b\0" + "3\0run\0\0--title=ä\0HOME=/home/a\0EMPTY=\0").utf8)
        let recipe = try #require(LaunchRecipe(parts: parts))
        #expect(recipe.path == base64("/opt/x/run"))
        #expect(recipe.directory == base64("/home/a b"))
        #expect(recipe.arguments == ["run", "", "--title=ä"].map(base64))
        #expect(recipe.environment == ["HOME=/home/a", "EMPTY="].map(base64))
    }

    @Test func bytesThatAreNoTextSurvive() throws {
        let parts = Array("/x\0/\u{0}1\0".utf8) + [0xff, 0xfe, 0]
        let recipe = try #require(LaunchRecipe(parts: parts))
        #expect(recipe.arguments == [Data([0xff, 0xfe]).base64EncodedString()])
        #expect(recipe.environment.isEmpty)
    }

    @Test(arguments: [
        "", "/x", "/x\0/\0", "/x\0/\0" + "2\0one\0", "/x\0/\0many\0one\0", "/x\0/\0-1\0", "/x\0/\0" + "1\0one",
    ])
    func anythingElseIsRefused(parts: String) {
        #expect(LaunchRecipe(parts: Array(parts.utf8)) == nil)
    }
}
