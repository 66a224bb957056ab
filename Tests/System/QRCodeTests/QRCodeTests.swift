import Foundation
import QRCode
import SystemTestSupport
import TestSupport
import Testing

struct QRCodeTests {
    @Test(.requires(.program("zbarimg"))) func anotherDecoderReadsTheTextFromThePicture() throws {
        let text = "0123-4567-89AB-CDEF"
        let code = try QRCode(text)
        let directory = try TemporaryDirectory()
        // Portable graymap: eight pixels a module, as a printer or a screen shows it.
        let (scale, zone) = (8, 4)
        let side = (code.width + 2 * zone) * scale
        var picture = "P2\n\(side) \(side)\n1\n"
        for row in 0..<side {
            picture +=
                (0..<side).map { code.isDark(row / scale - zone, $0 / scale - zone) ? "0" : "1" }
                .joined(separator: " ") + "\n"
        }
        let path = directory.path("code.pgm")
        try picture.write(toFile: path, atomically: true, encoding: .utf8)
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/zbarimg")
        reader.arguments = ["--quiet", "--raw", path]
        let output = Pipe()
        reader.standardOutput = output
        try reader.run()
        reader.waitUntilExit()
        let found = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(found == text + "\n")
    }

    @Test func textThatIsTooLongIsRefused() {
        #expect(throws: QRCode.Failure.self) { _ = try QRCode(String(repeating: "x", count: 5_000)) }
    }

    @Test func theTerminalAndTheSVGShowEveryModule() throws {
        let code = try QRCode("HELLO")
        let dark = code.modules.filter { $0 }.count
        #expect(code.svg.components(separatedBy: "h1v1h-1z").count - 1 == dark)
        let blocks = code.terminalLines.joined()
        let columns = code.width + 8
        // Rows are shown in pairs, so an odd last one has an empty partner.
        let light = blocks.reduce(0) { $0 + ($1 == "█" ? 2 : $1 == "▀" || $1 == "▄" ? 1 : 0) }
        #expect(light == code.terminalLines.count * 2 * columns - dark)
    }
}
