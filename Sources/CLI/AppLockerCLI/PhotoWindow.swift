import Foundation

/// The window that shows a photo: `applocker-prompt` with the picture and its caption on descriptors of memory files.
/// Neither is on a disk, in an argument or in the environment.
enum PhotoWindow {
    /// Checked first, so that no passcode is typed in vain.
    ///
    /// - Throws: `CommandLineError` if there is no desktop or no window program.
    static func requireDesktop(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        guard ["WAYLAND_DISPLAY", "DISPLAY"].contains(where: { !environment[$0, default: ""].isEmpty }) else {
            throw CommandLineError(
                .refused, code: "no_desktop",
                "There is no desktop to show a photo on; `applocker intruders export ID -o FILE` writes it to a file.")
        }
        let path = OwnExecutable.sibling("applocker-prompt")
        guard access(path, X_OK) == 0 else {
            throw CommandLineError(
                .refused, code: "no_window",
                "The photo's window is not installed (\(path) is missing); `applocker intruders export ID -o FILE` "
                    + "writes the photo to a file.")
        }
    }

    /// Replaces this process with the window; returns only an error.
    ///
    /// - Parameter hidesOnCapture: hide the photo while the screen is being recorded.
    static func become(photo: Data, caption: String, hidesOnCapture: Bool) -> CommandLineError {
        let path = OwnExecutable.sibling("applocker-prompt")
        let files: [Int32]
        do throws(CommandLineError) {
            files = [try memoryFile(photo), try memoryFile(Data(caption.utf8))]
        } catch {
            return error
        }
        return OwnExecutable.become(
            path,
            ["--photo-fd", String(files[0]), "--caption-fd", String(files[1])]
                + (hidesOnCapture ? ["--hide-on-capture"] : []))
    }

    /// A descriptor at the beginning of the content, which is kept across execve.
    private static func memoryFile(_ content: Data) throws(CommandLineError) -> Int32 {
        let file = try MemoryFile.make(content)
        _ = fcntl(file, F_SETFD, 0)
        return file
    }
}
