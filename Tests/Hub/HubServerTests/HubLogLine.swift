import Foundation
import Glibc
import Logging

@testable import HubServer

/// A line of the hub's log handler on standard error.
enum HubLogLine {
    static func write(_ body: (Logger) -> Void) throws -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw RawClient.Failed(code: errno) }
        body(Logger(label: "test") { HubLogHandler(label: $0, level: .info, descriptor: ends[1]) })
        close(ends[1])
        defer { close(ends[0]) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(ends[0], &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
