import Foundation
import Testing

/// Runs each input that fuzzing kept: those that reach far into a parser, and those that have broken one.
struct CorpusTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fuzz/corpus").standardizedFileURL

    @Test(arguments: FuzzedParser.allCases)
    func keptInputsAreParsedOrRefused(_ parser: FuzzedParser) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appendingPathComponent(parser.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        // A failure ends the process: the parser is the argument that was printed last.
        for file in files { parser.run(Array(try Data(contentsOf: file))) }
    }
}
