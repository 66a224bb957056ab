import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The window of an intruder photo: the real program with a real picture on a real X server.
@Suite(
    .requires(.display, .program("xdotool"), .program("openbox"), .program("xprop"), .program("import")))
struct PhotoViewerTests {
    /// The blue of the picture below, which nothing else on the screen has.
    private static let blue = [0x20, 0x40, 0xE0] as [UInt8]

    /// A desktop, and a JPEG of 320 by 240 blue points in its directory.
    private func desktopWithPhoto(settings: [String] = []) async throws -> (Desktop, photo: String) {
        let desktop = try await Desktop(.openbox, settings: settings)
        let photo = desktop.directory.path("photo.jpg")
        let made = try await ChildProcess.run("convert", ["-size", "320x240", "xc:#2040E0", photo])
        try #require(made.exit == .code(0), "\(made.errorOutput)")
        return (desktop, photo)
    }

    private func start(_ desktop: Desktop, photo: String, caption: String? = nil, user: uid_t? = nil) throws
        -> ChildProcess
    {
        var arguments = ["--photo-fd", "5"]
        let picture = try FileHandle(forReadingFrom: URL(fileURLWithPath: photo))
        var descriptors: [Int32: Int32] = [5: picture.fileDescriptor]
        var words: FileHandle?
        if let caption {
            words = try FileHandle(
                forReadingFrom: URL(fileURLWithPath: desktop.directory.write(caption, to: "caption")))
            descriptors[6] = words?.fileDescriptor
            arguments += ["--caption-fd", "6"]
        }
        return try withExtendedLifetime((picture, words)) {
            try ChildProcess(
                BuiltProducts.path("applocker-prompt"), arguments, environment: desktop.environment,
                descriptors: descriptors, user: user)
        }
    }

    private func window(_ desktop: Desktop) async throws -> String? {
        try await desktop.x("xdotool", "search", "--onlyvisible", "--class", "applocker-photo")
            .split(separator: "\n").first.map(String.init)
    }

    /// How many points of the window have about this colour: JPEG changes it a little.
    private func points(_ desktop: Desktop, of colour: [UInt8]) async throws -> Int {
        guard let window = try await window(desktop) else { return 0 }
        let shot = try ChildProcess(
            "import", ["-window", window, "-depth", "8", "rgb:-"], environment: desktop.environment)
        try await shot.wait()
        let bytes = [UInt8](shot.outputData)
        return stride(from: 0, to: bytes.count - 2, by: 3).count { start in
            (0..<3).allSatisfy { abs(Int(bytes[start + $0]) - Int(colour[$0])) <= 4 }
        }
    }

    @Test(arguments: [false, true])
    func thePictureIsShownWholeInLightAndDark(isDark: Bool) async throws {
        let (desktop, photo) = try await desktopWithPhoto(
            settings: ["gtk-application-prefer-dark-theme=\(isDark ? 1 : 0)"])
        let viewer = try start(desktop, photo: photo, caption: "2026-01-31 14:05:09: 3 wrong passcodes")
        await eventually("the picture is shown") {
            try await points(desktop, of: Self.blue) > 50_000
        }
        #expect(viewer.isRunning, "\(viewer.errorOutput)")
        let background = isDark ? [0x22, 0x23, 0x2C] as [UInt8] : [0xFF, 0xFF, 0xFF]
        #expect(try await points(desktop, of: background) > 10_000, "the window around it")
        let window = try #require(try await window(desktop))
        #expect(try await desktop.x("xdotool", "getwindowname", window).hasPrefix("Intruder photo"))
        await desktop.awaitKeyboard(of: "applocker-photo")
        try await desktop.press("Escape")
        #expect(try await viewer.wait() == .code(0))
        #expect(viewer.errorOutput.isEmpty)
    }

    @Test func thePictureGrowsAndShrinksWithTheWindow() async throws {
        let (desktop, photo) = try await desktopWithPhoto()
        let viewer = try start(desktop, photo: photo)
        await eventually("the picture is shown") { try await points(desktop, of: Self.blue) > 50_000 }
        let window = try #require(try await window(desktop))
        try await desktop.x("xdotool", "windowsize", window, "900", "700")
        await eventually("it is larger") { try await points(desktop, of: Self.blue) > 300_000 }
        try await desktop.x("xdotool", "windowsize", window, "120", "120")
        await eventually("it is smaller") { try await points(desktop, of: Self.blue) < 14_400 }
        #expect(viewer.isRunning)
        try await desktop.x("xdotool", "windowclose", window)
        await eventually("closing it ends it") { !viewer.isRunning }
    }

    @Test func aPictureThatCannotBeShownIsAnError() async throws {
        let (desktop, photo) = try await desktopWithPhoto()
        let whole = try Data(contentsOf: URL(fileURLWithPath: photo))
        func message(for bytes: Data) async throws -> String {
            let path = desktop.directory.path("bad.jpg")
            try bytes.write(to: URL(fileURLWithPath: path))
            let viewer = try start(desktop, photo: path)
            #expect(try await viewer.wait() == .code(1))
            #expect(viewer.errorOutput.hasPrefix("applocker-prompt: "))
            return viewer.errorOutput
        }
        #expect(try await message(for: whole.dropLast(10)).contains("damaged"))
        #expect(try await message(for: whole.prefix(30) + Data([0xFF, 0xD9])).contains("damaged"))
        // It begins and ends as a JPEG with a valid structure, but has no image data.
        #expect(
            try await message(for: whole.prefix(20) + Data([0xFF, 0xC0, 0, 8, 8, 0, 9, 0, 9, 0xFF, 0xD9]))
                .contains("damaged"))
        #expect(try await message(for: Data("hello".utf8)).contains("not a JPEG"))
        #expect(try await message(for: Data()).contains("not a JPEG"))
        #expect(try await message(for: Data(count: 9 << 20)).contains("larger than 8 MiB"))
    }

    @Test func aMissingDesktopOrDescriptorIsAnError() async throws {
        let (desktop, photo) = try await desktopWithPhoto()
        let program = try BuiltProducts.path("applocker-prompt")
        let picture = try FileHandle(forReadingFrom: URL(fileURLWithPath: photo))
        let noDesktop = try await ChildProcess.run(
            program, ["--photo-fd", "5"], environment: Desktop.environment(desktop.directory),
            descriptors: [5: picture.fileDescriptor])
        #expect(noDesktop.exit == .code(1))
        #expect(noDesktop.errorOutput.contains("intruders export"))
        let closed = try await ChildProcess.run(program, ["--photo-fd", "7"], environment: desktop.environment)
        #expect(closed.exit == .code(1))
        #expect(closed.errorOutput.contains("file descriptor 7 can't be read"))
        let alone = try await ChildProcess.run(program, ["--caption-fd", "7"], environment: desktop.environment)
        #expect(alone.exit == .code(2))
    }

    @Test(.requires(.root)) func noOtherProgramOfTheUserCanReadItsMemory() async throws {
        let (desktop, photo) = try await desktopWithPhoto()
        let nobody: uid_t = 65_534
        chown(desktop.directory.path, nobody, nobody)
        let viewer = try start(desktop, photo: photo, caption: "a caption", user: nobody)
        await eventually("the window") { try await window(desktop) != nil }
        let maps = try await ChildProcess.run("cat", ["/proc/\(viewer.pid)/maps"], user: nobody)
        #expect(maps.errorOutput.contains("Permission denied"))
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(viewer.pid)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(viewer.pid)/fd/\($0)")
        }
        #expect(open.count > 3 && !open.contains(photo), "the picture's descriptor is closed once it is read")
    }
}
