import Foundation
import SystemTestSupport
import Testing

/// A picture of a screen.
struct Picture {
    /// Three bytes a pixel.
    private let pixels: [UInt8]

    /// Reads a picture file, and stores a copy in the directory that APPLOCKER_PICTURES names.
    init(_ file: String) async throws {
        if let directory = ProcessInfo.processInfo.environment["APPLOCKER_PICTURES"] {
            let kept = directory + "/" + (file as NSString).lastPathComponent
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try? FileManager.default.removeItem(atPath: kept)
            try FileManager.default.copyItem(atPath: file, toPath: kept)
        }
        let converter = try ChildProcess("convert", [file, "-depth", "8", "rgb:-"])
        try #require(try await converter.wait() == .code(0), "\(converter.errorOutput)")
        pixels = Array(converter.outputData)
    }

    /// How many pixels have about this colour.
    func count(red: ClosedRange<UInt8>, green: ClosedRange<UInt8>, blue: ClosedRange<UInt8>) -> Int {
        var count = 0
        for start in stride(from: 0, to: pixels.count - 2, by: 3) where red.contains(pixels[start]) {
            if green.contains(pixels[start + 1]), blue.contains(pixels[start + 2]) { count += 1 }
        }
        return count
    }

    /// The red of the refused passcode: the field's frame and the message.
    var alarmed: Int { count(red: 150...255, green: 0...60, blue: 0...70) }

    /// The prompt's background and text have many colours, an empty window only a few.
    var distinctColours: Int {
        var colours: Set<UInt32> = []
        for start in stride(from: 0, to: pixels.count - 2, by: 3) {
            colours.insert(pixels[start..<start + 3].reduce(0) { $0 << 8 | UInt32($1) })
        }
        return colours.count
    }
}
