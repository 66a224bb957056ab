import Foundation
import Glibc
public import Logging

/// Writes one JSON object a line to standard error. Callers must not pass an address, token, id or body.
public struct HubLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    private let label: String

    private let descriptor: Int32

    /// - Parameter descriptor: the file descriptor for the lines; standard error by default.
    public init(label: String, level: Logger.Level = .info, descriptor: Int32 = 2) {
        self.label = label
        self.descriptor = descriptor
        logLevel = level
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var fields: [(String, String)] = [
            ("time", Self.now()),
            ("level", event.level.rawValue), ("from", label), ("message", "\(event.message)"),
        ]
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        fields += all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        let body = fields.map { "\(Self.quoted($0.0)):\(Self.value($0.1))" }.joined(separator: ",")
        let bytes = Array("{\(body)}\n".utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// RFC 3339, in UTC, with milliseconds.
    private static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var parts = tm()
        gmtime_r(&time.tv_sec, &parts)
        return String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday,
            parts.tm_hour, parts.tm_min, parts.tm_sec, time.tv_nsec / 1_000_000)
    }

    /// Numbers are written without quotes.
    private static func value(_ text: String) -> String {
        let isNumber = !text.isEmpty && text.utf8.count < 16 && text.utf8.allSatisfy { (48...57).contains($0) }
        return isNumber && (text == "0" || !text.hasPrefix("0")) ? text : quoted(text)
    }

    /// RFC 8259 section 7.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
