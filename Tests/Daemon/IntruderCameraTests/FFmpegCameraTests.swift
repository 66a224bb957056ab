import DaemonCore
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import IntruderCamera

/// One picture from an untrusted process. Shell scripts replace ffmpeg.
@Suite(.serialized)
struct FFmpegCameraTests {
    private let directory: TemporaryDirectory

    init() async throws {
        directory = try TemporaryDirectory()
        // The child is another user where the tests run as root.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        await Self.awaitFreeCamera()
    }

    /// A picture is returned before its ffmpeg has ended, if that takes longer than a second: then the camera is still
    /// in use for a while.
    private static func awaitFreeCamera() async {
        let isFree = await eventually("the camera is free") { CameraUse.begin() }
        if isFree { CameraUse.end() }
    }

    private func camera(_ script: String, limit: Duration = .seconds(60)) throws -> FFmpegCamera {
        FFmpegCamera(
            input: "lavfi:testsrc2",
            executable: try directory.write("#!/bin/sh\n" + script + "\n", to: "ffmpeg", permissions: 0o755),
            limit: limit)
    }

    /// Bytes that begin and end as a JPEG does, as the script prints them.
    private static let picture = #"printf '\377\330\377\340picture\377\331'"#

    @Test(.requires(.program("/usr/bin/ffmpeg"), .program("identify")))
    func aPictureIsTakenWithoutWritingToDisk() async throws {
        let photo = try await FFmpegCamera(input: "lavfi:testsrc2=size=640x480", limit: .seconds(60)).photograph()
        let file = directory.path("photo.jpg")
        try Data(photo).write(to: URL(fileURLWithPath: file))
        let seen = try await ChildProcess.run("identify", ["-format", "%m %w %h %n", file])
        #expect(seen.output == "JPEG 640 480 1")
    }

    @Test(.requires(.program("/usr/bin/ffmpeg")))
    func anUndecodablePictureIsReportedWithoutItsBytes() async throws {
        let error = await #expect(throws: PhotoSourceError.self) {
            try await FFmpegCamera(input: "lavfi:testsrc2=size=nonsense", limit: .seconds(60)).photograph()
        }
        #expect(error?.code == .failed)
        #expect(error?.sentence.hasPrefix("The camera returned no picture (") == true)
    }

    @Test func aHangingCameraIsKilledWithItsChildren() async throws {
        let camera = try camera("sleep 61.5 & sleep 61.5", limit: .milliseconds(300))
        let start = ContinuousClock.now
        let error = await #expect(throws: PhotoSourceError.self) { try await camera.photograph() }
        #expect(error == PhotoSourceError(.tookTooLong, "The camera returned no picture within 0.3 seconds."))
        #expect(ContinuousClock.now - start < .seconds(60), "before the camera ends")
        await eventually("both processes have ended") { try Self.processes(of: "sleep\u{0}61.5").isEmpty }
        await eventually("no zombie is left") { try Self.zombies().isEmpty }
    }

    @Test func aCameraThatIgnoresSignalsAndClosesItsOutputIsKilledToo() async throws {
        let camera = try camera("trap '' TERM INT HUP; exec >&- 2>&-; sleep 62.5", limit: .milliseconds(300))
        let error = await #expect(throws: PhotoSourceError.self) { try await camera.photograph() }
        #expect(error?.code == .tookTooLong)
        await eventually("the process has ended") { try Self.processes(of: "sleep\u{0}62.5").isEmpty }
        await eventually("no zombie is left") { try Self.zombies().isEmpty }
    }

    @Test func remainingChildrenAreKilledAfterAPicture() async throws {
        let camera = try camera("sleep 63.5 & \(Self.picture)", limit: .seconds(90))
        let start = ContinuousClock.now
        #expect(try await camera.photograph().count == 13)
        #expect(ContinuousClock.now - start < .seconds(60), "a child that holds the pipe open is not waited for")
        await eventually("the child has ended") { try Self.processes(of: "sleep\u{0}63.5").isEmpty }
    }

    @Test(arguments: [
        ("echo no picture at all", "The camera returned no picture."),
        ("true", "The camera returned no picture."),
        (#"printf '\377\330\377\340cut off'"#, "The camera returned no picture."),
        ("\(Self.picture); echo more", "The camera returned no picture."),
        (
            "echo one >&2; echo 'two: /home/alice/x is /dev/video0' >&2",
            "The camera returned no picture (two: … is /dev/video0)."
        ),
        ("head -c 9000000 /dev/zero", "The camera returned a picture of more than 8 MiB."),
        ("head -c 3000000 /dev/zero >&2; echo", "The camera returned no picture."),
    ])
    func outputThatIsNotOnePictureIsRefused(script: String, sentence: String) async throws {
        let camera = try camera(script)
        let error = await #expect(throws: PhotoSourceError.self) { try await camera.photograph() }
        #expect(error == PhotoSourceError(.failed, sentence))
    }

    @Test func aPictureLargerThanAPipeArrivesComplete() async throws {
        let camera = try camera(#"printf '\377\330\377'; head -c 8388603 /dev/zero; printf '\377\331'"#)
        #expect(try await camera.photograph().count == 8 << 20)
    }

    @Test func aMissingFFmpegOrDeviceIsReportedAtOnce() async throws {
        // Before the time limit of any of them.
        let limit = Duration.seconds(60)
        let start = ContinuousClock.now
        let missing = await #expect(throws: PhotoSourceError.self) {
            try await FFmpegCamera(input: "lavfi:testsrc2", executable: directory.path("nowhere"), limit: limit)
                .photograph()
        }
        #expect(missing?.code == .noCamera)
        #expect(missing?.sentence.contains("ffmpeg is not installed") == true)
        let device = await #expect(throws: PhotoSourceError.self) {
            try await FFmpegCamera(input: "v4l2:/dev/video987", limit: limit).photograph()
        }
        #expect(device == PhotoSourceError(.noCamera, "There is no camera /dev/video987."))
        let wrong = await #expect(throws: PhotoSourceError.self) {
            try await FFmpegCamera(input: "file:/etc/shadow", limit: limit).photograph()
        }
        #expect(wrong?.code == .failed)
        // A missing interpreter is detected only in the child.
        let broken = try directory.write("#!/nowhere/sh\n", to: "broken", permissions: 0o755)
        let noInterpreter = await #expect(throws: PhotoSourceError.self) {
            try await FFmpegCamera(input: "lavfi:testsrc2", executable: broken, limit: limit).photograph()
        }
        #expect(noInterpreter?.code == .noCamera)
        #expect(ContinuousClock.now - start < limit)
    }

    @Test func onePictureIsTakenAtATime() async throws {
        let pipe = directory.path("pipe")
        try #require(mkfifo(pipe, 0o644) == 0 && chmod(pipe, 0o644) == 0)
        // The first camera reads the pipe until its writer closes it.
        let camera = try camera("[ ! -p \(pipe) ] || cat \(pipe); \(Self.picture)", limit: .seconds(30))
        async let first = camera.photograph()
        var writer: Int32 = -1
        await eventually("the first picture is being taken") {
            writer = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return writer >= 0
        }
        let second = await #expect(throws: PhotoSourceError.self) { try await camera.photograph() }
        #expect(second?.sentence == "A picture is being taken already.")
        close(writer)
        #expect(try await first.count == 13)
        unlink(pipe)
        await Self.awaitFreeCamera()
        #expect(try await camera.photograph().count == 13, "the next picture can be taken")
    }

    @Test func fiftyPicturesLeaveNoDescriptorAndNoZombie() async throws {
        let camera = try camera(Self.picture)
        _ = try await camera.photograph()
        let before = try Self.descriptors()
        for _ in 0..<50 {
            await Self.awaitFreeCamera()
            _ = try await camera.photograph()
        }
        let bad = try self.camera("echo bad")
        for _ in 0..<5 { _ = try? await bad.photograph() }
        await eventually("no more descriptors are open than the \(before) before") { try Self.descriptors() <= before }
        await eventually("no zombie is left") { try Self.zombies().isEmpty }
    }

    @Test func theChildHasMinimalDescriptorsEnvironmentAndLimits() async throws {
        // The last line of standard error becomes the sentence.
        func output(of script: String) async throws -> String {
            await Self.awaitFreeCamera()
            let error = await #expect(throws: PhotoSourceError.self) { try await camera(script).photograph() }
            return error?.sentence ?? ""
        }
        #expect(try await output(of: "echo $(ls /proc/self/fd | wc -l) >&2").contains("(4)"), "0, 1, 2 and that of ls")
        #expect(
            try await output(of: "echo $(env | cut -d = -f 1 | grep -v -x -e PWD -e OLDPWD -e SHLVL -e _) >&2")
                .contains("(PATH)"), "what a shell sets by itself aside")
        #expect(try await output(of: "pwd | tr / R >&2").contains("(R)"))
        #expect(try await output(of: "grep NoNewPrivs /proc/self/status >&2").contains("(NoNewPrivs: 1)"))
        #expect(try await output(of: "ulimit -f >&2").contains("(0)"), "no file can be written to")
        #expect(try await output(of: "ulimit -n >&2").contains("(64)"))
        #expect(
            try await output(of: "cut -d ' ' -f 6 /proc/$$/stat | sed s/$$/own/ >&2").contains("(own)"),
            "its own session")
        #expect(try await output(of: "cat >&2; echo end >&2").contains("(end)"), "nothing to read")
    }

    @Test(.requires(.root)) func theChildOfRootRunsAsNobodyWithoutCapabilities() async throws {
        let secret = try directory.write("secret", to: "secret", permissions: 0o600)
        func output(of script: String) async throws -> String {
            await Self.awaitFreeCamera()
            let error = await #expect(throws: PhotoSourceError.self) { try await camera(script).photograph() }
            return error?.sentence ?? ""
        }
        #expect(try await output(of: "grep Uid: /proc/self/status >&2").contains("Uid: 65534 65534 65534 65534"))
        #expect(try await output(of: "grep Gid: /proc/self/status >&2").contains("Gid: 65534 65534 65534 65534"))
        #expect(try await output(of: "grep Groups: /proc/self/status >&2").contains("(Groups:)"))
        for set in ["CapEff", "CapPrm", "CapInh", "CapAmb"] {
            #expect(try await output(of: "grep \(set) /proc/self/status >&2").contains("(\(set): 0000000000000000)"))
        }
        #expect(try await output(of: "cat \(secret) >&2").contains("Permission denied"))
    }

    // MARK: Leaks

    private static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Processes whose command line begins with this.
    private static func processes(of commandLine: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.filter {
            let bytes = FileManager.default.contents(atPath: "/proc/\($0)/cmdline") ?? Data()
            return String(decoding: bytes, as: UTF8.self).hasPrefix(commandLine)
        }
    }

    /// Zombie children of this process.
    private static func zombies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.filter {
            guard let text = try? String(contentsOfFile: "/proc/\($0)/status", encoding: .utf8) else { return false }
            return text.contains("State:\tZ") && text.contains("PPid:\t\(getpid())\n")
        }
    }
}
