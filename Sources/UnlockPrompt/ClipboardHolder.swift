import CGtk4
import Foundation

/// `applocker-prompt --hold-clipboard-fd`: owns the clipboard for a while and gives the text to whoever asks. With the
/// end of the process the text is gone; where somebody else has copied something meanwhile, that stays.
enum ClipboardHolder {
    /// The most that is held, in bytes.
    static let limit = 1 << 20

    /// Prints "held" once the text can be pasted, waits and takes it away. Blocks. Returns an exit code, after one
    /// sentence on standard error where it is not 0.
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
            StandardError.write("applocker-prompt: what is to be copied: \(error)\n")
        }
        return 1
    }

    /// Says that the text can be pasted, and lets go of the terminal: the process goes on without it.
    static func sayHeld() {
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
