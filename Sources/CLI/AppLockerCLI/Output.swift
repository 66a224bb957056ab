import Foundation
import Synchronization

/// A stream for text: standard output or standard error.
struct Output: Sendable {
    let descriptor: Int32
    /// Colour is used only on terminals, and only if NO_COLOR (https://no-color.org) is not set.
    let isColoured: Bool

    static let standard = Output(descriptor: STDOUT_FILENO)
    static let errors = Output(descriptor: STDERR_FILENO)

    init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.descriptor = descriptor
        isColoured =
            isatty(descriptor) == 1 && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Writes the text and a line end. A closed reader is not an error.
    func line(_ text: String = "") { write(text.hasSuffix("\n") ? text : text + "\n") }

    func lines(_ lines: [String]) { if !lines.isEmpty { line(lines.joined(separator: "\n")) } }

    func write(_ text: String) {
        guard !Self.writeAll(Array(text.utf8), to: descriptor), descriptor == STDOUT_FILENO, errno != EPIPE else {
            return
        }
        Self.failure.store(errno, ordering: .relaxed)
    }

    /// The errno of the last write to standard output that failed, 0 if none has. A full disk is an error: a script
    /// that keeps the output would otherwise remove the only copy of what it read.
    static var failureCode: Int32 { failure.load(ordering: .relaxed) }
    private static let failure = Atomic<Int32>(0)

    /// Blocks.
    /// - Returns: false after a failure; errno has the reason.
    static func writeAll(_ bytes: some ContiguousBytes, to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }

    /// Writes a value as JSON: indented, keys sorted, times and numbers as on the wire.
    func json(_ value: some Encodable) throws { line(try Self.jsonText(value)) }

    static func jsonText(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// One value a line, for streams.
    func jsonLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        line(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// Highlights parts of a text. Plain if the output has no colour.
struct Paint: Sendable {
    let isColoured: Bool

    init(_ output: Output) { isColoured = output.isColoured }
    init(isColoured: Bool) { self.isColoured = isColoured }

    func alarm(_ text: String) -> String { wrap(text, "1;31") }
    func warning(_ text: String) -> String { wrap(text, "33") }
    func good(_ text: String) -> String { wrap(text, "32") }
    func strong(_ text: String) -> String { wrap(text, "1") }
    func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension Output {
    func warn(unreadable: Int, _ what: String) {
        if unreadable > 0 { line(Paint(self).warning(Self.sentence(unreadable: unreadable, what))) }
    }

    /// How many records a list omits because they can't be opened.
    static func sentence(unreadable: Int, _ what: String) -> String {
        unreadable == 1
            ? "One \(what) does not open with the keys of its vault."
            : "\(unreadable) \(what)s do not open with the keys of their vault."
    }
}

/// "1 photo", "3 photos".
func counted(_ count: Int, _ what: String) -> String { count == 1 ? "1 \(what)" : "\(count) \(what)s" }

extension String {
    /// Replaces control characters, line separators and bidirectional formatting, which could control the terminal or
    /// mislead the reader, by U+FFFD. Names of processes, paths and apps are untrusted.
    var terminalSafe: String {
        var safe = String.UnicodeScalarView()
        for character in self {
            let scalars = character.unicodeScalars
            // A family or a flag is several emoji, joined by U+200D, which is a formatting character.
            let isEmoji =
                scalars.last != "\u{200D}"
                && scalars.allSatisfy {
                    $0 == "\u{200D}" || $0 == "\u{FE0F}" || ($0.properties.isEmoji && !$0.isASCII)
                }
            for scalar in scalars {
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
                    safe.append(isEmoji ? scalar : "\u{FFFD}")
                default: safe.append(scalar)
                }
            }
        }
        return String(safe)
    }
}
