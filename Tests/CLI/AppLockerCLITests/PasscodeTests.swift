import Foundation
import Testing

@testable import AppLockerCLI

@Suite("Passcodes from a file descriptor")
struct PasscodeTests {
    /// The reading end of a pipe that holds `bytes` and is closed at its other end.
    private func descriptor(_ bytes: [UInt8]) throws -> Pipe {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try pipe.fileHandleForWriting.close()
        return pipe
    }

    private func read(_ bytes: [UInt8]) async throws -> String {
        let pipe = try descriptor(bytes)
        return try await PasscodeSource.descriptor(pipe.fileHandleForReading.fileDescriptor).existing().text
    }

    private func refusal(_ bytes: [UInt8]) async -> String? {
        do {
            _ = try await read(bytes)
            return nil
        } catch let error as CommandLineError {
            return "\(error.status.rawValue) \(error.code)"
        } catch {
            return "\(error)"
        }
    }

    @Test("One line is the passcode, with or without a newline")
    func oneLine() async throws {
        #expect(try await read(Array("pass word\n".utf8)) == "pass word")
        #expect(try await read(Array("pass word".utf8)) == "pass word")
        #expect(try await read(Array("schlüssel 🔑\nmore".utf8)) == "schlüssel 🔑")
        #expect(try await read(Array(" spaces \n".utf8)) == " spaces ")
    }

    @Test("Two lines are two passcodes, and nothing of the second is lost")
    func twoLines() async throws {
        let pipe = try descriptor(Array("old\nnew\n".utf8))
        let source = PasscodeSource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        #expect(try await source.existing().text == "old")
        #expect(try await source.chosen("New").text == "new")
    }

    @Test("Missing, too long, not text: each is wrong usage with its own code")
    func refused() async throws {
        #expect(await refusal([]) == "2 no_passcode")
        #expect(await refusal(Array("\nabc".utf8)) == "2 no_passcode")
        #expect(await refusal(Array(repeating: 0x61, count: 1025)) == "2 passcode_too_long")
        #expect(await refusal([0x61, 0xFF, 0xFE, 0x0A]) == "2 passcode_not_text")
        #expect(try await read(Array(repeating: 0x61, count: 1024)).utf8.count == 1024)
        #expect(try await read(Array(repeating: 0x61, count: 1024) + [0x0A]).utf8.count == 1024)
    }

    @Test("A descriptor that is not open is wrong usage")
    func closedDescriptor() async {
        await #expect(throws: CommandLineError.self) { try await PasscodeSource.descriptor(4000).existing() }
    }

    @Test("Deleting a character removes all its bytes")
    func removeLast() throws {
        let passcode = Passcode("aü🔑")
        passcode.removeLastCharacter()
        #expect(try passcode.text == "aü")
        passcode.removeLastCharacter()
        #expect(try passcode.text == "a")
        passcode.removeLastCharacter()
        passcode.removeLastCharacter()
        #expect(passcode.isEmpty)
    }

    @Test("Passcodes are equal only if every byte is")
    func equality() {
        #expect(Passcode("hunter 77") == Passcode("hunter 77"))
        #expect(!(Passcode("hunter 77") == Passcode("hunter 78")))
        #expect(!(Passcode("hunter 77") == Passcode("hunter 7")))
        #expect(!(Passcode("") == Passcode("h")))
    }
}
