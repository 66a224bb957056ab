import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Pictures

/// Smaller sizes of other programs' pictures, made by the real ffmpeg.
@Suite struct PictureMakerTests {
    private let maker = PictureMaker()
    private let limits = PictureMaker.Limits(medium: 48, thumbnail: 32, thumbnailBytes: 16_384)

    /// The colours in the middle of the four quarters.
    private func quarters(_ bytes: [UInt8]) throws -> [String] {
        let (size, rgb) = try maker.pixels(of: bytes, fitting: PictureSize(width: 96, height: 96))
        return [(1, 1), (3, 1), (1, 3), (3, 3)].map { column, row in
            let at = (size.height * row / 4 * size.width + size.width * column / 4) * 3
            let isHigh = rgb[at..<at + 3].map { $0 > 127 }
            switch isHigh {
            case [true, false, false]: return "red"
            case [false, true, false]: return "green"
            case [false, false, true]: return "blue"
            case [true, true, true]: return "white"
            default: return "\(Array(rgb[at..<at + 3]))"
            }
        }
    }

    @Test(.requires(.program("/usr/bin/ffmpeg")), arguments: 1...8) func everyPictureIsUpright(_ orientation: Int)
        throws
    {
        let bytes = try Fixture.bytes("orientation-\(orientation).jpg")
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        let right = ["red", "green", "blue", "white"]
        #expect(made.size == PictureSize(width: 96, height: 64))
        #expect(try quarters(made.original) == right)
        #expect(try quarters(try #require(made.medium)) == right)
        #expect(try quarters(made.thumbnail) == right)
        #expect(JPEGSegments.size(of: made.medium ?? []) == PictureSize(width: 48, height: 32))
        #expect(JPEGSegments.size(of: made.thumbnail) == PictureSize(width: 32, height: 21))
        // The orientation is the only metadata that is kept.
        let left = Exif(made.original)
        #expect(left?.orientation ?? 1 == orientation && left?.local == nil && left?.latitude == nil)
        let kept = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
        #expect(kept.original == bytes && kept.size == made.size)
    }

    @Test(
        .requires(.program("/usr/bin/ffmpeg")),
        arguments: ["everything.jpg", "orientation-3.jpg", "transparent.png", "picture.webp"])
    func metadataIsRemovedFromEverySize(_ name: String) throws {
        let bytes = try Fixture.bytes(name)
        let marker = Data("MARKER-OF-THE-CAMERA".utf8)
        #expect(Data(bytes).range(of: marker) != nil || name == "picture.webp")
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        for size in [made.original, made.medium ?? [], made.thumbnail] {
            #expect(Data(size).range(of: marker) == nil)
            #expect(Data(size).range(of: Data("Lavc".utf8)) == nil)
        }
        let isOfFixture = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
        #expect(isOfFixture.original == bytes)
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func aJPEGKeepsItsPixelsAndItsColours() throws {
        let bytes = try Fixture.bytes("everything.jpg")
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        #expect(Data(made.original).range(of: Data("ICC_PROFILE".utf8)) != nil)
        let most = PictureSize(width: 96, height: 96)
        #expect(try maker.pixels(of: made.original, fitting: most).rgb == maker.pixels(of: bytes, fitting: most).rgb)
        #expect(made.original.count < bytes.count)
        let again = try maker.prepare(made.original, keepsOriginal: false, limits: limits)
        #expect(again.original == made.original)
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func transparencyBecomesWhiteInTheSmallerSizes() throws {
        let made = try maker.prepare(try Fixture.bytes("transparent.png"), keepsOriginal: false, limits: limits)
        #expect(made.type == .png)
        #expect(try quarters(try #require(made.medium)) == ["white", "green", "blue", "white"])
    }

    @Test(.requires(.program("/usr/bin/ffmpeg")), arguments: ["picture.webp", "lossy.webp", "picture.gif"])
    func formatsOtherThanJPEGAndPNGBecomeJPEG(_ name: String) throws {
        let bytes = try Fixture.bytes(name)
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        #expect(made.type == .jpeg && made.size == PictureSize(width: 96, height: 64))
        #expect(try quarters(made.original) == ["red", "green", "blue", "white"])
        let kept = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
        #expect(kept.type != .jpeg && kept.original == bytes)
        #expect(try quarters(try #require(kept.medium)) == ["red", "green", "blue", "white"])
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func aSmallJPEGHasNoMediumSize() throws {
        let large = PictureMaker.Limits(medium: 2_048, thumbnail: 320, thumbnailBytes: 16_384)
        let made = try maker.prepare(try Fixture.bytes("silent.jpg"), keepsOriginal: false, limits: large)
        #expect(made.medium == nil && made.exif == nil)
        #expect(JPEGSegments.size(of: made.thumbnail) == PictureSize(width: 96, height: 64))
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func aThumbnailStaysWithinItsLimit() throws {
        var numbers = SystemRandomNumberGenerator()
        let noise = (0..<320 * 320 * 3).map { _ in UInt8.random(in: 0...255, using: &numbers) }
        // JPEG compresses noise worst, so its thumbnail would be the largest.
        let process = PictureProcess(
            executable: PictureMaker.debianExecutable, limit: .seconds(60), maximumOutput: 1 << 24)
        let bytes = try process.run(
            [
                "-loglevel", "quiet", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "320x320", "-i", "pipe:0", "-c:v",
                "png",
                "-f", "image2pipe", "pipe:1",
            ], input: noise)
        let made = try maker.prepare(
            bytes, keepsOriginal: false, limits: .init(medium: 2_048, thumbnail: 320, thumbnailBytes: 16_384))
        #expect(1...16_384 ~= made.thumbnail.count)
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func aFileThatIsNotAPictureIsRefused() throws {
        func refusal(_ bytes: [UInt8]) -> PictureError.Code? {
            do throws(PictureError) {
                _ = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
                return nil
            } catch {
                #expect(error.sentence.hasSuffix("."))
                return error.code
            }
        }
        #expect(refusal([]) == .notPicture)
        #expect(refusal(Array("#!/bin/sh\nexit 0\n".utf8)) == .notPicture)
        #expect(refusal([0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0]) == .notPicture)
        let whole = try Fixture.bytes("silent.jpg")
        #expect(refusal(Array(whole.prefix(40))) == .damaged)
        // It claims to be 60,000 by 60,000.
        var large = try Fixture.bytes("transparent.png")
        large.replaceSubrange(16..<24, with: [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60])
        #expect(refusal(large) == .tooLarge)
        // ffmpeg would read other files that a playlist in its own format names; here it must not.
        #expect(refusal(Array("ffconcat version 1.0\nfile '/etc/passwd'\n".utf8)) == .notPicture)
    }

    @Test func withoutFFmpegTheErrorNamesIt() throws {
        let maker = PictureMaker(executable: "/nonexistent/ffmpeg")
        let error = #expect(throws: PictureError.self) {
            _ = try maker.prepare(try Fixture.bytes("silent.jpg"), keepsOriginal: false, limits: limits)
        }
        #expect(error?.code == .failed && error?.sentence.contains("not installed") == true)
    }

    /// A stand-in that never ends is killed, with all that it started, even after it has closed its output.
    @Test(arguments: ["sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600"])
    func aConversionThatTakesTooLongIsKilled(_ script: String) throws {
        let directory = try TemporaryDirectory()
        let stuck = directory.path("stuck")
        try directory.write("#!/bin/sh\n\(script)\n", to: "stuck", permissions: 0o755)
        #expect(chmod(directory.path, 0o755) == 0)
        let maker = PictureMaker(executable: stuck, limit: .milliseconds(300))
        let begun = ContinuousClock.now
        let error = #expect(throws: PictureError.self) {
            _ = try maker.prepare(try Fixture.bytes("silent.jpg"), keepsOriginal: false, limits: limits)
        }
        #expect(error?.code == .tookTooLong)
        #expect(ContinuousClock.now - begun < .seconds(60))
    }
}
