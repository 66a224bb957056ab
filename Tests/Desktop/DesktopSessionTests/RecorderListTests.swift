import Testing

@testable import DesktopSession

struct RecorderListTests {
    private func capture(_ executable: String, _ arguments: String...) -> ScreenCapture? {
        RecorderList.capture(executable: executable, arguments: arguments)
    }

    @Test func toolsAreReportedOnlyWhileTheyRecordTheScreen() {
        #expect(
            capture("ffmpeg", "-f", "x11grab", "-i", ":0", "out.mkv")
                == ScreenCapture(recorder: "ffmpeg", isCertain: true))
        #expect(capture("ffmpeg", "-f", "kmsgrab", "-i", "-")?.isCertain == true)
        #expect(capture("ffmpeg", "-i", "in.mkv", "out.mp4") == nil)
        #expect(capture("gst-launch-1.0", "ximagesrc", "!", "fakesink")?.recorder == "GStreamer")
        #expect(capture("gst-launch-1.0", "videotestsrc", "!", "fakesink") == nil)
        #expect(capture("gjs", "-m", "/usr/share/gnome-shell/org.gnome.Shell.Screencast")?.isCertain == false)
        #expect(capture("gjs", "/usr/share/gnome-shell/org.gnome.ScreenSaver") == nil)
    }

    @Test func recordersAreDetectedByTheirExecutable() {
        #expect(capture("wf-recorder")?.isCertain == true)
        #expect(capture("obs") == ScreenCapture(recorder: "OBS", isCertain: false))
        #expect(capture("obs (deleted)")?.recorder == "OBS", "upgraded while it ran")
        #expect(capture("python3.11", "-u", "/usr/bin/kazam")?.recorder == "Kazam")
        #expect(capture("python3.11", "/usr/bin/meld") == nil)
        #expect(capture("vim", "obs") == nil)
    }

    @Test func theSentenceStatesWhetherTheRecordingIsCertain() {
        let open = ScreenCapture(recorder: "OBS", isCertain: false)
        let recorded = ScreenCapture(recorder: "ffmpeg", isCertain: true)
        #expect(ScreenCapture.sentence([]) == nil)
        #expect(ScreenCapture.sentence([open]) == "OBS is running and may be recording the screen.")
        #expect(ScreenCapture.sentence([open, recorded]) == "The screen is being recorded by ffmpeg.")
    }
}
