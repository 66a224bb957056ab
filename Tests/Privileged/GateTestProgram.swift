import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The locked app of the tests: a small C program that writes a record before anything else. Without a record, none of
/// its instructions ran.
struct TestProgram: Sendable {
    /// The record of one run.
    struct Run: Equatable {
        var pid: pid_t
        var directory: String
        var arguments: [String]
        var environment: [String]
    }

    let path: String
    let recordPath: String

    enum Linking: String, Sendable { case `static`, dynamic }

    /// Copies the program to `path`. Its records are in `path` + ".ran", also if the copy is renamed later.
    init(at path: String, linking: Linking = .static) throws {
        self.path = path
        recordPath = path + ".ran"
        var bytes = try CompiledPrograms.app(linking)
        let placeholder = Data(repeating: UInt8(ascii: "@"), count: 200)
        let range = try #require(bytes.range(of: placeholder))
        var name = Data(recordPath.utf8)
        name.append(Data(count: 200 - name.count))
        bytes.replaceSubrange(range, with: name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o755)
        try Data().write(to: URL(fileURLWithPath: recordPath))
        chmod(recordPath, 0o666)
    }

    var runs: [Run] {
        let bytes = (try? Data(contentsOf: URL(fileURLWithPath: recordPath))) ?? Data()
        // Behind the last separator is what a run is just writing.
        return bytes.split(separator: 0x1e, omittingEmptySubsequences: false).dropLast().compactMap { record in
            let fields = record.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) }
            guard fields.count >= 3, let pid = pid_t(fields[0]), let count = Int(fields[2]) else { return nil }
            return Run(
                pid: pid, directory: fields[1], arguments: Array(fields[3..<(3 + count)]),
                environment: Array(fields[(3 + count)...]))
        }
    }

    /// Whether any instruction of it ever ran.
    var hasRun: Bool { ((try? Data(contentsOf: URL(fileURLWithPath: recordPath))) ?? Data()).isEmpty == false }
}

/// The C programs of these tests, compiled once a run.
enum CompiledPrograms {
    private static let directory = Result { try TemporaryDirectory() }

    static func app(_ linking: TestProgram.Linking) throws -> Data {
        try Data(contentsOf: compiled("app-\(linking.rawValue)", appSource, linking == .static ? ["-static"] : []))
    }

    /// A program that tries to evade the gate; its source has the ways.
    static func evader() throws -> String { try compiled("evade", evaderSource, []).path }

    /// A program that starts another one many times from many processes; see its source.
    static func launcher() throws -> String { try compiled("launcher", launcherSource, []).path }

    static func compiled(_ name: String, _ source: String, _ flags: [String] = []) throws -> URL {
        let directory = try directory.get()
        chmod(directory.path, 0o755)
        let product = directory.url.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: product.path) { return product }
        let file = try directory.write(source, to: name + ".c")
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: Requirement.findProgram("cc") ?? "/usr/bin/cc")
        compiler.arguments = ["-O1", "-Wall", "-o", product.path, file] + flags
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "the test program \(name) does not compile")
        return product
    }
}
