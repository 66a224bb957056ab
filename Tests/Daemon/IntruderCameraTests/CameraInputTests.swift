import DaemonCore
import TestSupport
import Testing

@testable import IntruderCamera

struct CameraInputTests {
    @Test(arguments: [
        ("auto", CameraInput.automatic),
        ("v4l2:/dev/video0", .device("/dev/video0")),
        ("v4l2:/dev/video12", .device("/dev/video12")),
        ("v4l2:/dev/v4l/by-id/usb-046d_C920-video-index0", .device("/dev/v4l/by-id/usb-046d_C920-video-index0")),
        ("lavfi:testsrc2", .testPicture("testsrc2")),
        ("lavfi:testsrc2=size=640x480:rate=5", .testPicture("testsrc2=size=640x480:rate=5")),
    ])
    func cameraInputsAreParsed(text: String, input: CameraInput) throws {
        #expect(try CameraInput(text) == input)
        #expect(input.description == text)
    }

    @Test(arguments: [
        "", "auto ", "video0", "/dev/video0", "v4l2:", "v4l2:/dev/video", "v4l2:/dev/video0/../sda",
        "v4l2:/dev/video1234",
        "v4l2:/dev/sda", "v4l2:/etc/shadow", "v4l2:/dev/v4l/by-id/", "v4l2:/dev/v4l/by-id/..",
        "v4l2:/dev/v4l/by-id/a/b",
        "v4l2:/dev/video0\0", "v4l2:/dev/video0 -f lavfi", "file:/etc/shadow", "x11grab::0", "lavfi:",
        "lavfi:movie=/etc/shadow",
        "lavfi:testsrc2,drawtext=textfile=/etc/shadow", "lavfi:testsrc2[out0];movie=a", "lavfi:testsrc2=size='640x480'",
        "lavfi:testsrc2=size=640x480:", "lavfi:testsrc2=size", "lavfi:testsrc2=", "lavfi:testsrc2@a=size=1x1",
        "lavfi:testsrc2=a\\=b", "-i:/dev/video0", "http://example.org/a",
    ])
    func otherInputsAreRefusedWithASentence(text: String) {
        let error = #expect(throws: PhotoSourceError.self) { try CameraInput(text) }
        #expect(error?.sentence.contains("v4l2:/dev/video0") == true)
    }

    @Test func theFirstDeviceThatCapturesVideoIsTheCamera() throws {
        let directory = try TemporaryDirectory()
        for name in ["video10", "video2", "video", "video03", "videos", "vbi0", "video1x"] {
            try directory.write("", to: name)
        }
        var asked: [String] = []
        let found = CameraDevices.first(in: directory.path) { path in
            asked.append(path)
            return path.hasSuffix("video10")
        }
        #expect(found == directory.path("video10"))
        #expect(asked == [directory.path("video2"), directory.path("video10")], "by number; nothing else is opened")
        #expect(CameraDevices.first(in: directory.path) == nil, "a file is not a camera")
        #expect(CameraDevices.first(in: directory.path("nowhere")) { _ in true } == nil)
    }

    @Test func onlyADevicesGroupIsUsedAndNeverRoots() throws {
        let directory = try TemporaryDirectory()
        #expect(CameraDevices.group(of: try directory.write("", to: "file")) == nil)
        #expect(CameraDevices.group(of: "/dev/null") == nil, "it belongs to root's group")
        #expect(CameraDevices.group(of: directory.path("nowhere")) == nil)
    }
}
