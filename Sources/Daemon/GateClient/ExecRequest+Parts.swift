import ControlAPI
import Foundation

extension ExecRequest {
    /// Reads the joined parts of `GateMessage.execRequest`: program, NUL, directory, NUL, number of arguments, NUL, then each
    /// argument and each environment entry with its NUL. Nil where they are not of that form.
    init?(parts: [UInt8]) {
        var fields = parts.split(separator: 0, omittingEmptySubsequences: false)
        guard fields.count >= 4, fields.removeLast().isEmpty,
            let count = Int(String(decoding: fields[2], as: UTF8.self)), count >= 0, count <= fields.count - 3
        else { return nil }
        let encoded = fields.map { Data($0).base64EncodedString() }
        self.init(
            path: encoded[0], directory: encoded[1], arguments: Array(encoded[3..<(3 + count)]),
            environment: Array(encoded[(3 + count)...]))
    }
}
