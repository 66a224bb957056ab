import BlockingThread
import Foundation

enum PasscodeSource: Sendable {
    case terminal
    /// One line each, read a byte at a time, so that the next line stays unread.
    case descriptor(Int32)

    /// Reads an existing passcode.
    ///
    /// - Throws: `CommandLineError` if it is missing, too long or not text, or there is no terminal.
    func existing(_ question: String = "Passcode") async throws -> Passcode {
        switch self {
        case .terminal: try await Self.ask(question)
        case .descriptor(let descriptor): try await Self.line(descriptor)
        }
    }

    /// Reads a new passcode: on the terminal twice until both are equal, at most three times; from a descriptor once.
    func chosen(_ question: String) async throws -> Passcode {
        guard case .terminal = self else { return try await existing() }
        for _ in 1...3 {
            let first = try await Self.ask(question)
            let second = try await Self.ask("\(question) (repeat)")
            if first == second { return first }
            try Terminal.withControlling { $0.write("The two entries differ. Enter them again.\n") }
        }
        throw CommandLineError(
            .refused, code: "passcodes_differ", "The two passcodes differed three times; nothing was changed.")
    }

    /// The code of the error after Enter alone.
    static let noPasscode = "no_passcode"

    private static func ask(_ question: String) async throws -> Passcode {
        let passcode = try await runBlocking {
            try Terminal.withControlling { terminal in try terminal.readSecret(question: question + ": ") }
        }
        guard let passcode, !passcode.isEmpty else {
            throw CommandLineError(.refused, code: noPasscode, "No passcode was entered; nothing was changed.")
        }
        return passcode
    }

    /// Reads to a line end or the end of the file; the line end is not part of the passcode.
    private static func line(_ descriptor: Int32) async throws -> Passcode {
        let passcode = try await runBlocking { try readLine(descriptor) }
        guard !passcode.isEmpty else {
            throw CommandLineError(
                .usage, code: "no_passcode",
                "File descriptor \(descriptor) has no passcode; write one line to it, as in --passcode-fd 3 3<file.")
        }
        _ = try passcode.text
        return passcode
    }

    /// Blocks: call it on a thread of its own. Empty at the end of the file.
    static func readLine(_ descriptor: Int32) throws -> Passcode {
        let passcode = Passcode()
        var byte: UInt8 = 0
        defer { byte = 0 }
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandLineError(
                    .usage, code: "passcode_fd",
                    "File descriptor \(descriptor) can't be read (\(String(cString: strerror(errno)))); open it for "
                        + "reading, as in --passcode-fd 3 3<file.")
            }
            if count == 0 || byte == UInt8(ascii: "\n") { return passcode }
            guard passcode.append(byte) else {
                throw CommandLineError(
                    .usage, code: "passcode_too_long",
                    "The passcode from file descriptor \(descriptor) is longer than \(Passcode.maximumBytes) bytes.")
            }
        }
    }
}
