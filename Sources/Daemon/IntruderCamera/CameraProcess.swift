import DaemonCore
import Glibc
import ProcessSpawning

/// One run of ffmpeg on a camera. All of it on the thread that made it, and `end` or `collect` last.
struct CameraProcess: ~Copyable {
    private let executable: String
    private let process: ConfinedProcess

    /// - Throws: `PhotoSourceError`.
    init(executable: String, source: CameraSource) throws(PhotoSourceError) {
        do throws(ConfinedProcessError) {
            // With room: ffmpeg needs well under a second of processor time for one picture.
            process = try ConfinedProcess(
                executable: executable, arguments: ["ffmpeg"] + source.arguments,
                confinement: Confinement(
                    processorSeconds: 10, addressSpace: 2 << 30, groups: source.group.map { [$0] } ?? []))
        } catch {
            throw Self.explained(error, executable)
        }
        self.executable = executable
    }

    /// Reads until ffmpeg has ended.
    ///
    /// - Throws: `PhotoSourceError` for no picture in time, none at all, or something else than one JPEG.
    func picture(within limit: Duration) throws(PhotoSourceError) -> [UInt8] {
        let (picture, complaint): (OutputBuffer, [UInt8])
        do throws(ConfinedProcessError) {
            (picture, complaint) = try process.read(within: limit, maximumBytes: FFmpegCamera.maximumBytes)
        } catch {
            throw Self.explained(error, executable, limit: limit)
        }
        guard picture.isOneJPEG else { throw PhotoSourceError(.failed, Self.sentence(complaint)) }
        return picture.copy()
    }

    func end(within time: Duration) -> Bool { process.end(within: time) }

    func collect() { process.collect() }
}

extension OutputBuffer {
    /// Whether it begins and ends as a JPEG does: start of image and a first marker, end of image (ITU-T T.81, B.1.1.3).
    fileprivate var isOneJPEG: Bool {
        count >= 5 && self[0] == 0xFF && self[1] == 0xD8 && self[2] == 0xFF && self[count - 2] == 0xFF
            && self[count - 1] == 0xD9
    }
}

// MARK: Messages

extension CameraProcess {
    private static func explained(
        _ error: ConfinedProcessError, _ executable: String, limit: Duration = .zero
    ) -> PhotoSourceError {
        switch error {
        case .missing:
            PhotoSourceError(
                .noCamera,
                "ffmpeg is not installed (\(executable)); without it no picture can be taken. Debian's package is "
                    + "ffmpeg.")
        case .tookTooLong:
            PhotoSourceError(
                .tookTooLong, "The camera returned no picture within \(limit.formattedSeconds) seconds.")
        case .tooMuchOutput: PhotoSourceError(.failed, "The camera returned a picture of more than 8 MiB.")
        case .failed(let what, let code):
            PhotoSourceError(.failed, "No picture could be taken: \(what): \(String(cString: strerror(code))).")
        }
    }

    /// ffmpeg's last line, short and without any path but a device's.
    static func sentence(_ complaint: [UInt8]) -> String {
        let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = (lines.last ?? "").unicodeScalars.map { $0.isASCII && $0.value >= 0x20 ? Character($0) : " " }
            .split(separator: " ").map { String($0) }
            .map { $0.contains("/") && !$0.hasPrefix("/dev/video") && !$0.hasPrefix("/dev/v4l/") ? "…" : $0 }
        let cause = String(words.joined(separator: " ").prefix(160))
        return cause.isEmpty ? "The camera returned no picture." : "The camera returned no picture (\(cause))."
    }
}

extension Duration {
    fileprivate var formattedSeconds: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
    }
}
