public import DaemonCore
import Foundation
import Glibc

/// The computer's camera, by way of ffmpeg: one process for each picture, without privileges, that writes one JPEG to a
/// pipe. Nothing is written to a disk.
///
/// At most one picture is taken at a time in the whole process, whatever values of this type there are. Works on a
/// thread of its own.
public struct FFmpegCamera: PhotoSource {
    /// Debian's path. Fixed, because the environment's PATH can't be trusted.
    public static let debianExecutable = "/usr/bin/ffmpeg"
    /// The longest picture, in bytes.
    static let maximumBytes = 8 << 20

    private let input: String
    private let executable: String
    private let limit: Duration

    /// - Parameters:
    ///   - input: as `CameraInput` reads it. `photograph` reports an invalid one.
    ///   - executable: absolute path of ffmpeg.
    ///   - limit: time from the start of ffmpeg to the whole picture; then it is killed.
    public init(
        input: String = "auto", executable: String = FFmpegCamera.debianExecutable, limit: Duration = .seconds(15)
    ) {
        self.input = input
        self.executable = executable
        self.limit = limit
    }

    /// A JPEG, at most 8 MiB.
    ///
    /// - Throws: `PhotoSourceError`. `noCamera` comes at once.
    public func photograph() async throws -> [UInt8] {
        let input = try CameraInput(input)
        let (executable, limit) = (executable, limit)
        guard CameraUse.begin() else { throw PhotoSourceError(.failed, "A picture is being taken already.") }
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                // The child dies with this thread, and this thread waits for the child.
                let result: Result<[UInt8], PhotoSourceError>
                do throws(PhotoSourceError) {
                    let child = try CameraProcess(executable: executable, source: Self.source(of: input))
                    result = Result { () throws(PhotoSourceError) in try child.picture(within: limit) }
                    guard child.end(within: .seconds(1)) else {
                        // A driver may block even a killed process, so nothing waits for its end.
                        continuation.resume(with: result)
                        child.collect()
                        return CameraUse.end()
                    }
                } catch {
                    result = .failure(error)
                }
                CameraUse.end()
                continuation.resume(with: result)
            }
        }
    }

    private static func source(of input: CameraInput) throws(PhotoSourceError) -> CameraSource {
        switch input {
        case .automatic:
            guard let path = CameraDevices.first() else { throw PhotoSourceError(.noCamera, "No camera was found.") }
            return CameraSource(format: "v4l2", input: path, group: CameraDevices.group(of: path))
        case .device(let path):
            guard access(path, F_OK) == 0 else {
                throw PhotoSourceError(.noCamera, "There is no camera \(path).")
            }
            return CameraSource(format: "v4l2", input: path, group: CameraDevices.group(of: path))
        case .testPicture(let description):
            return CameraSource(format: "lavfi", input: description, group: nil)
        }
    }
}

/// ffmpeg's input arguments.
struct CameraSource: Equatable, Sendable {
    var format: String
    var input: String
    /// The group that the child needs for the device.
    var group: gid_t?

    var arguments: [String] {
        // A camera's first pictures are often dark: it measures the light first.
        let filter = format == "v4l2" ? ["-vf", "select=gte(t\\,0.5)"] : []
        return ["-hide_banner", "-nostdin", "-loglevel", "error", "-f", format, "-i", input] + filter + [
            "-an", "-frames:v", "1", "-map_metadata", "-1", "-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p",
            "-f", "image2pipe", "pipe:1",
        ]
    }
}
