public import DaemonCore

/// Where the picture comes from. As text: "auto", or "FORMAT:INPUT" with ffmpeg's names for both.
///
/// Only what can be nothing but a camera or a test picture is taken: ffmpeg itself opens files and network addresses
/// just as readily.
public enum CameraInput: Equatable, Sendable, CustomStringConvertible {
    /// The first camera of this computer.
    case automatic
    /// "v4l2:/dev/video2", or a link below /dev/v4l/by-id or /dev/v4l/by-path.
    case device(String)
    /// "lavfi:testsrc2=size=640x480": a picture that ffmpeg draws, for trying everything without a camera.
    case testPicture(String)

    /// - Throws: `PhotoSourceError.Code.failed` with a sentence that describes the valid values.
    public init(_ text: String) throws(PhotoSourceError) {
        if text == "auto" {
            self = .automatic
        } else if let path = text.without(prefix: "v4l2:"), Self.isDevicePath(path) {
            self = .device(path)
        } else if let source = text.without(prefix: "lavfi:"), Self.isTestPicture(source) {
            self = .testPicture(source)
        } else {
            throw PhotoSourceError(
                .failed,
                "The camera has to be \"auto\", \"v4l2:\" with a device (v4l2:/dev/video0), or \"lavfi:\" with a test "
                    + "picture (lavfi:testsrc2=size=640x480).")
        }
    }

    public var description: String {
        switch self {
        case .automatic: "auto"
        case .device(let path): "v4l2:" + path
        case .testPicture(let source): "lavfi:" + source
        }
    }

    private static func isDevicePath(_ path: String) -> Bool {
        if let number = path.without(prefix: "/dev/video") {
            return (1...3).contains(number.utf8.count) && number.utf8.allSatisfy(isDigit)
        }
        for directory in ["/dev/v4l/by-id/", "/dev/v4l/by-path/"] {
            guard let name = path.without(prefix: directory) else { continue }
            return (1...200).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
                && name.utf8.allSatisfy { isDigit($0) || isLetter($0) || "._:+-".utf8.contains($0) }
        }
        return false
    }

    /// One source without inputs and its options. No comma, semicolon, bracket or quote: they lead to other filters,
    /// of which some read files.
    private static func isTestPicture(_ source: String) -> Bool {
        let parts = source.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard ["testsrc", "testsrc2", "smptebars", "smptehdbars", "color"].contains(parts[0]), source.utf8.count <= 200
        else { return false }
        guard parts.count == 2 else { return true }
        return parts[1].split(separator: ":", omittingEmptySubsequences: false).allSatisfy { option in
            let pair = option.split(separator: "=", omittingEmptySubsequences: false)
            return pair.count == 2
                && pair.allSatisfy { word in
                    !word.isEmpty && word.utf8.allSatisfy { isDigit($0) || isLetter($0) || "._/".utf8.contains($0) }
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension String {
    fileprivate func without(prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
