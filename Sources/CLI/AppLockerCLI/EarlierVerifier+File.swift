import ControlAPI
import FileLocking
import Foundation
import MomentTransfer

extension EarlierVerifier {
    /// In bytes.
    private static let largestFile = 4_096

    /// Reads a file, as docs/formats.md specifies it. The daemon checks what the fields hold.
    /// - Throws: `TransferError` or `CommandLineError`.
    init(file path: String) throws {
        let file = try ReadableFile.named(path)
        guard !file.isReadableByOthers else {
            throw CommandLineError(
                .usage, code: "not_private",
                "Other users can read \(path), and could find the passcode with it. Run `chmod 600` on it first.")
        }
        guard file.size <= Self.largestFile else {
            throw CommandLineError(
                .usage, code: "too_large", "\(path) has more than \(Self.largestFile) bytes, so it is no verifier.")
        }
        let data = Data(try file.read(at: 0, count: Self.largestFile))
        guard (try? JSONSerialization.jsonObject(with: data)) != nil else {
            throw CommandLineError(.usage, code: "not_json", "\(path) is not JSON.")
        }
        guard let fields = try? JSONDecoder().decode([String: String].self, from: data), fields.count == 3,
            let kind = fields["kind"], let salt = fields["salt"], let digest = fields["digest"]
        else {
            throw CommandLineError(
                .usage, code: "bad_verifier",
                "\(path) has to be a JSON object of the texts \"kind\", \"salt\" and \"digest\", and nothing else.")
        }
        self.init(kind: kind, salt: salt, digest: digest)
    }
}
