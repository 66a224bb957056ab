import CGtk4
import DesktopSession
import Foundation
import GtkSupport

/// `applocker-prompt --photo-fd`: shows one picture from memory in a window. The process ends with the window.
@MainActor
enum PhotoViewer {
    /// Returns only if nothing can be shown, after one sentence on standard error.
    static func run(photo: Int32, caption: Int32?, hidesOnCapture: Bool) -> Int32 {
        g_set_prgname("applocker-photo")
        do throws(PhotoFailure) {
            let picture = try PhotoFile(bytes: DescriptorContent.read(photo, limit: PhotoFile.maximumBytes))
            let text = try caption.map { number throws(PhotoFailure) in
                String(decoding: try DescriptorContent.read(number, limit: 4096), as: UTF8.self)
            }
            let advice = "`applocker intruders export` writes the photo to a file."
            guard MainLoop.openDisplay(otherwise: advice) != nil else { return 1 }
            let window = try PhotoWindow(picture, caption: text ?? "", hidesOnCapture: hidesOnCapture)
            let watch = Task {
                for await found in CaptureWatch().captures() { window.showCaptureNotice(ScreenCapture.sentence(found)) }
            }
            withExtendedLifetime((window, watch)) { MainLoop.run() }
        } catch {
            StandardError.write("applocker-prompt: \(error)\n")
            return 1
        }
    }
}

/// Why the window can't be shown.
enum PhotoFailure: Error, Equatable, CustomStringConvertible {
    case unreadable(Int32, errno: Int32)
    case tooLarge
    case notJPEG
    case damaged
    case tooManyPixels(width: Int, height: Int)

    var description: String {
        switch self {
        case .unreadable(let descriptor, let number):
            "file descriptor \(descriptor) can't be read (\(String(cString: strerror(number))))."
        case .tooLarge: "the photo is larger than \(PhotoFile.maximumBytes >> 20) MiB."
        case .notJPEG: "this is not a JPEG picture."
        case .damaged: "the photo is damaged and can't be shown."
        case .tooManyPixels(let width, let height): "the photo is too large to show (\(width) × \(height) pixels)."
        }
    }
}

/// Reads a descriptor to its end.
enum DescriptorContent {
    /// Blocks until the other end is closed, and closes the descriptor, so that no other program inherits it.
    ///
    /// - Parameter limit: in bytes.
    static func read(_ descriptor: Int32, limit: Int) throws(PhotoFailure) -> [UInt8] {
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while content.count <= limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(descriptor, errno: errno) }
            if count == 0 { return content }
            content += buffer[..<count]
        }
        throw .tooLarge
    }
}
