import Foundation
import Localization

/// A process that records the screen, or whose purpose that is.
public struct ScreenCapture: Equatable, Sendable {
    // These are no names: each has its own sentences, so that they can be translated.
    static let sharing = "a program that shares the screen"
    static let desktop = "the desktop's screen recorder"

    /// The recorder's name for people.
    public var recorder: String
    /// False if the program is running and may or may not be recording at present.
    public var isCertain: Bool

    /// One sentence for the window that may be recorded.
    public static func sentence(_ captures: [ScreenCapture]) -> String? {
        guard let capture = captures.first(where: \.isCertain) ?? captures.first else { return nil }
        return switch (capture.recorder, capture.isCertain) {
        case (sharing, true): localized("The screen is being recorded by a program that shares the screen.")
        case (let recorder, true): localized("The screen is being recorded by \(recorder).")
        case (desktop, false):
            localized("The desktop's screen recorder is running and may be recording the screen.")
        case (let recorder, false): localized("\(recorder) is running and may be recording the screen.")
        }
    }
}

/// Recognises recorders by how a process was started.
enum RecorderList {
    /// Programs that only record, by the name of their executable.
    private static let recorders: [String: String] = [
        "wf-recorder": "wf-recorder", "wl-screenrec": "wl-screenrec", "recordmydesktop": "recordMyDesktop",
        "gpu-screen-recorder": "GPU Screen Recorder", "byzanz-record": "Byzanz", "menyoki": "menyoki",
        "x11vnc": "x11vnc", "wayvnc": "wayvnc",
    ]

    /// Programs with a window of their own, which may be open without recording.
    private static let studios: [String: String] = [
        "obs": "OBS", "obs-studio": "OBS", "simplescreenrecorder": "SimpleScreenRecorder", "kooha": "Kooha",
        "peek": "Peek", "vokoscreenNG": "vokoscreenNG", "vokoscreen": "vokoscreen", "kazam": "Kazam",
        "gtk-recordmydesktop": "recordMyDesktop", "screenkast": "ScreenKast", "blue-recorder": "Blue Recorder",
        "gpu-screen-recorder-gtk": "GPU Screen Recorder",
    ]

    /// General tools, with the arguments by which they record the screen.
    private static let tools: [String: (name: String, words: [String])] = [
        "ffmpeg": ("ffmpeg", ["x11grab", "kmsgrab"]), "ffplay": ("ffplay", ["x11grab", "kmsgrab"]),
        "avconv": ("avconv", ["x11grab"]),
        "gst-launch-1.0": ("GStreamer", ["ximagesrc", "pipewiresrc", "kmssrc"]),
        "cvlc": ("VLC", ["screen://"]), "vlc": ("VLC", ["screen://"]),
        // GNOME's recorder is a script of its shell.
        "gjs": (ScreenCapture.desktop, ["org.gnome.Shell.Screencast"]),
        "gjs-console": (ScreenCapture.desktop, ["org.gnome.Shell.Screencast"]),
    ]

    /// - Parameters:
    ///   - executable: the last part of the executable's path.
    ///   - arguments: without the program's name.
    static func capture(executable: String, arguments: [String]) -> ScreenCapture? {
        // The suffix of a running program whose file was replaced (proc(5), /proc/PID/exe).
        let name = executable.hasSuffix(" (deleted)") ? String(executable.dropLast(10)) : executable
        if let recorder = recorders[name] { return ScreenCapture(recorder: recorder, isCertain: true) }
        if let studio = studios[name] { return ScreenCapture(recorder: studio, isCertain: false) }
        if let tool = tools[name],
            tool.words.contains(where: { word in
                arguments.contains { $0.contains(word) }
            })
        {
            return ScreenCapture(recorder: tool.name, isCertain: name != "gjs" && name != "gjs-console")
        }
        // For a program in Python or another language, the script's name is compared.
        if name.hasPrefix("python"), let script = arguments.first(where: { !$0.hasPrefix("-") }),
            let studio = studios[String(script.split(separator: "/").last ?? "")]
        {
            return ScreenCapture(recorder: studio, isCertain: false)
        }
        return nil
    }
}
