import Dispatch
import Foundation
import Glibc

/// Screens that are shared through PipeWire, as xdg-desktop-portal's back ends outside of GNOME do.
///
/// PipeWire's `pw-dump` lists its nodes: a source of pictures that isn't a camera is a screen or a window.
struct PipeWireCasts: Sendable {
    /// The directory of PipeWire's socket; nil if this session has none.
    var runtimeDirectory: String? = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
    var program = "/usr/bin/pw-dump"

    /// The time limit of PipeWire's reply.
    private static let patience: Duration = .seconds(2)
    /// The limit of a listing, in bytes; no real one is longer.
    private static let maximumBytes = 8 << 20

    /// The number of shared screens; 0 without PipeWire. Blocks for up to two seconds: call it on a thread of its own.
    func count() -> Int {
        guard let runtimeDirectory, access(runtimeDirectory + "/pipewire-0", F_OK) == 0, access(program, X_OK) == 0
        else { return 0 }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.environment = ["XDG_RUNTIME_DIR": runtimeDirectory, "PATH": "/usr/bin:/bin"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return 0 }
        let number = process.processIdentifier
        // Ending the process ends the read, too.
        let watchdog = DispatchWorkItem { kill(number, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience / .seconds(1), execute: watchdog)
        var listing = Data()
        while listing.count <= Self.maximumBytes,
            let piece = try? output.fileHandleForReading.read(upToCount: 1 << 16), !piece.isEmpty
        {
            listing += piece
        }
        if listing.count > Self.maximumBytes { kill(number, SIGKILL) }
        process.waitUntilExit()
        watchdog.cancel()
        return Self.count(in: listing)
    }

    private struct Object: Decodable {
        struct Info: Decodable {
            var props: [String: Value]?
        }

        /// Only text is used; numbers and booleans are ignored.
        enum Value: Decodable {
            case text(String)
            case other

            init(from decoder: any Decoder) throws {
                self = (try? decoder.singleValueContainer().decode(String.self)).map(Value.text) ?? .other
            }
        }

        var type: String
        var info: Info?
    }

    /// - Parameter listing: the output of `pw-dump`; anything else has no nodes.
    static func count(in listing: Data) -> Int {
        guard let objects = try? JSONDecoder().decode([Object].self, from: listing) else { return 0 }
        return objects.count { object in
            guard object.type == "PipeWire:Interface:Node", let properties = object.info?.props,
                case .text(let mediaClass)? = properties["media.class"]
            else { return false }
            let sendsPictures = mediaClass == "Video/Source" || mediaClass == "Stream/Output/Video"
            let isCamera = properties.keys.contains {
                $0 == "device.api" || $0.hasPrefix("api.v4l2.") || $0.hasPrefix("api.libcamera.")
            }
            return sendsPictures && !isCamera
        }
    }
}
