import CGtk4
import DesktopSession
import Foundation

/// `applocker-prompt --hold-clipboard-fd`: owns the clipboard for a while and serves the text to every program that
/// pastes. The text is gone when the process ends; what was copied meanwhile stays.
enum ClipboardHolder {
    /// The longest text, in bytes.
    static let limit = 1 << 20

    /// Prints "held" once the text can be pasted, waits and removes it. Blocks. Returns an exit code; if it isn't 0,
    /// one sentence is on standard error.
    static func run(_ descriptor: Int32, seconds: Int) -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        do {
            let text = try DescriptorContent.read(descriptor, limit: limit)
            if !(environment["WAYLAND_DISPLAY"] ?? "").isEmpty {
                try WaylandClipboard.hold(text, seconds: seconds, environment)
            } else {
                try X11Clipboard(display: environment["DISPLAY"] ?? "", text: text).hold(seconds: seconds)
            }
            return 0
        } catch PhotoFailure.tooLarge {
            StandardError.write("applocker-prompt: more than \(limit >> 20) MiB of text can't be copied.\n")
        } catch let error as ClipboardFailure {
            StandardError.write("applocker-prompt: \(error.description)\n")
        } catch {
            StandardError.write("applocker-prompt: the text to copy: \(error)\n")
        }
        return 1
    }

    /// Reports that the text can be pasted, and replaces the terminal's descriptors with /dev/null.
    static func reportReady() {
        FileHandle.standardOutput.write(Data("held\n".utf8))
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        for descriptor in 0...2 as ClosedRange<Int32> { dup2(null, descriptor) }
        close(null)
    }
}

/// Why nothing was copied.
struct ClipboardFailure: Error, Equatable, CustomStringConvertible {
    var description: String
}
