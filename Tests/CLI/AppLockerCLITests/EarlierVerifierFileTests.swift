import ControlAPI
import Foundation
import TestSupport
import Testing

@testable import AppLockerCLI

@Suite("The file of an earlier verifier")
struct EarlierVerifierFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = directory.path("verifier.json")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func refused(_ path: String) -> Failure? {
        do {
            _ = try EarlierVerifier(file: path)
            return nil
        } catch {
            return Failure(error)
        }
    }

    private static let whole = #"{"kind": "sha256", "salt": "AAAAAAAAAAA=", "digest": "AA=="}"#

    @Test("Its three fields are read")
    func fields() throws {
        #expect(
            try EarlierVerifier(file: try file(Self.whole))
                == EarlierVerifier(kind: "sha256", salt: "AAAAAAAAAAA=", digest: "AA=="))
    }

    @Test(
        "A file with a defect is refused with it",
        arguments: [
            ("", "is not JSON."), ("kind: sha256", "is not JSON."), ("\u{0}", "is not JSON."),
            ("[]", "and nothing else."), (#"{"kind": "sha256", "salt": "AA=="}"#, "and nothing else."),
            (#"{"kind": "sha256", "salt": "AA==", "digest": 7}"#, "and nothing else."),
            (#"{"kind": "sha256", "salt": "AA==", "digest": "AA==", "rounds": "1"}"#, "and nothing else."),
            (#"{"kind": "sha256", "salt": "AA==", "key": "AA=="}"#, "and nothing else."),
            (String(repeating: " ", count: 4_096) + whole, "has more than 4096 bytes"),
        ])
    func defects(text: String, words: String) throws {
        let failure = try #require(refused(try file(text)))
        #expect(failure.message.contains(words) && failure.status == .usage, "\(failure)")
    }

    @Test("A file that is missing, no file, or readable by others is refused", arguments: [0o640, 0o604])
    func access(mode: Int) throws {
        #expect(try #require(refused(directory.path("none"))).message.contains("No such file"))
        #expect(try #require(refused(directory.path)).message.contains("is not a file"))
        let failure = try #require(refused(try file(Self.whole, mode: mode)))
        #expect(failure.code == "not_private" && failure.message.contains("chmod 600"))
    }
}
