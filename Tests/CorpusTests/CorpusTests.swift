import Foundation
import Testing

/// Everything that fuzzing kept runs once: inputs that reach far into a parser, and whatever ever broke one.
struct CorpusTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fuzz/corpus").standardizedFileURL

    @Test(arguments: FuzzedParser.allCases)
    func keptInputsAreAnsweredOrRefused(_ parser: FuzzedParser) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appendingPathComponent(parser.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        // A broken one ends the process: its name is in the list that was being run, the last one printed.
        for file in files { parser.run(Array(try Data(contentsOf: file))) }
    }
}
