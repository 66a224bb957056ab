import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Pictures

/// Smaller sizes of other programs' pictures.
@Suite struct PictureMakerTests {
    private let maker: PictureMaker
    private let limits = PictureMaker.Limits(medium: 48, thumbnail: 32, mediumBytes: 1 << 20, thumbnailBytes: 16_384)

    init() throws { maker = PictureMaker(executable: try BuiltProducts.path("applocker-picture")) }

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

    @Test(arguments: 1...8) func everyPictureIsUpright(_ orientation: Int) throws {
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

    @Test(arguments: ["everything.jpg", "orientation-3.jpg", "transparent.png", "picture.webp", "turned.heic"])
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

    @Test func aJPEGKeepsItsPixelsAndItsColours() throws {
        let bytes = try Fixture.bytes("everything.jpg")
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        #expect(Data(made.original).range(of: Data("ICC_PROFILE".utf8)) != nil)
        let most = PictureSize(width: 96, height: 96)
        #expect(try maker.pixels(of: made.original, fitting: most).rgb == maker.pixels(of: bytes, fitting: most).rgb)
        #expect(made.original.count < bytes.count)
        let again = try maker.prepare(made.original, keepsOriginal: false, limits: limits)
        #expect(again.original == made.original)
    }

    @Test func transparencyBecomesWhiteInTheSmallerSizes() throws {
        let made = try maker.prepare(try Fixture.bytes("transparent.png"), keepsOriginal: false, limits: limits)
        #expect(made.type == .png)
        #expect(try quarters(try #require(made.medium)) == ["white", "green", "blue", "white"])
    }

    @Test(arguments: ["picture.avif", "transparent.heic"]) func aTransparentHEIFIsOnWhite(_ name: String) throws {
        let made = try maker.prepare(try Fixture.bytes(name), keepsOriginal: false, limits: limits)
        #expect(made.type == .jpeg && made.size == PictureSize(width: 96, height: 64) && !made.isReducedToOnePicture)
        #expect(try quarters(made.original) == ["white", "green", "blue", "white"])
    }

    /// Both its property and its Exif data have it.
    @Test func aHEICIsTurnedOnceAndHasItsMetadata() throws {
        let bytes = try Fixture.bytes("turned.heic")
        let kept = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
        #expect(kept.type == .heic && kept.original == bytes && kept.size == PictureSize(width: 96, height: 64))
        let exif = try #require(kept.exif)
        #expect(exif.orientation == 6 && exif.local?.year == 2024 && exif.offset == 120)
        #expect(abs((exif.latitude ?? 0) - 47.3769) < 0.0001)
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        #expect(made.type == .jpeg && Exif(made.original) == nil)
        for size in [made.original, try #require(made.medium), made.thumbnail] {
            #expect(try quarters(size) == ["red", "green", "blue", "white"])
            #expect(Data(size).range(of: Data("ICC_PROFILE".utf8)) != nil)
        }
        #expect(try maker.original(of: bytes).bytes == made.original)
    }

    @Test(arguments: ["ten-bits.heic", "print.jpg"]) func whatPrintersAndNewCamerasWriteIsOpened(_ name: String) throws
    {
        let made = try maker.prepare(try Fixture.bytes(name), keepsOriginal: false, limits: limits)
        #expect(try quarters(made.thumbnail) == ["red", "green", "blue", "white"])
    }

    @Test func aProfileOfColoursIsInEverySize() throws {
        let made = try maker.prepare(try Fixture.bytes("everything.jpg"), keepsOriginal: false, limits: limits)
        for size in [try #require(made.medium), made.thumbnail] {
            #expect(Data(size).range(of: Data("ICC_PROFILE".utf8)) != nil)
        }
    }

    /// The red of Display P3 as an s15Fixed16Number: 0.51512.
    @Test func coloursThatAreNamedByNumbersHaveAProfileInEverySize() throws {
        let red = Data("XYZ \0\0\0\0".utf8) + Data([0x00, 0x00, 0x83, 0xDF])
        let made = try maker.prepare(try Fixture.bytes("numbered.avif"), keepsOriginal: false, limits: limits)
        for size in [made.original, try #require(made.medium), made.thumbnail] {
            #expect(Data(size).range(of: Data("ICC_PROFILE".utf8)) != nil)
            #expect(Data(size).range(of: red) != nil)
        }
        let unspecified = try maker.prepare(try Fixture.bytes("picture.avif"), keepsOriginal: false, limits: limits)
        #expect(Data(unspecified.original).range(of: Data("ICC_PROFILE".utf8)) == nil, "it is sRGB")
    }

    @Test(arguments: ["animated.gif", "animated.webp", "several.heic"])
    func anAnimationIsKeptWholeOrReportedAsReduced(_ name: String) throws {
        let bytes = try Fixture.bytes(name)
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        #expect(made.isReducedToOnePicture && made.type == .jpeg)
        #expect(try quarters(made.original) == ["red", "green", "blue", "white"])
        let kept = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
        #expect(!kept.isReducedToOnePicture && kept.original == bytes)
    }

    @Test func anAnimatedPNGKeepsMoving() throws {
        let made = try maker.prepare(try Fixture.bytes("animated.png"), keepsOriginal: false, limits: limits)
        #expect(!made.isReducedToOnePicture)
        for chunk in ["acTL", "fcTL", "fdAT"] { #expect(Data(made.original).range(of: Data(chunk.utf8)) != nil) }
    }

    @Test(arguments: ["picture.webp", "lossy.webp", "picture.gif"])
    func formatsOtherThanJPEGAndPNGBecomeJPEG(_ name: String) throws {
        let bytes = try Fixture.bytes(name)
        let made = try maker.prepare(bytes, keepsOriginal: false, limits: limits)
        #expect(made.type == .jpeg && made.size == PictureSize(width: 96, height: 64))
        #expect(try quarters(made.original) == ["red", "green", "blue", "white"])
        let kept = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
        #expect(kept.type != .jpeg && kept.original == bytes)
        #expect(try quarters(try #require(kept.medium)) == ["red", "green", "blue", "white"])
    }

    @Test func aSmallJPEGHasNoMediumSize() throws {
        let large = PictureMaker.Limits(medium: 2_048, thumbnail: 320, mediumBytes: 16 << 20, thumbnailBytes: 16_384)
        let made = try maker.prepare(try Fixture.bytes("silent.jpg"), keepsOriginal: false, limits: large)
        #expect(made.medium == nil && made.exif == nil)
        #expect(JPEGSegments.size(of: made.thumbnail) == PictureSize(width: 96, height: 64))
    }

    /// A JPEG of a phone may end with a video.
    @Test func aSmallJPEGOfManyBytesHasAMediumSize() throws {
        let large = PictureMaker.Limits(medium: 2_048, thumbnail: 320, mediumBytes: 50_000, thumbnailBytes: 16_384)
        let bytes = try Fixture.bytes("silent.jpg") + [UInt8](repeating: 7, count: 50_000)
        let made = try maker.prepare(bytes, keepsOriginal: true, limits: large)
        let medium = try #require(made.medium)
        #expect(made.original == bytes && medium.count <= 50_000)
        #expect(JPEGSegments.size(of: medium) == PictureSize(width: 96, height: 64))
    }

    @Test func aMediumSizeAboveItsLimitIsRefused() throws {
        let small = PictureMaker.Limits(medium: 2_048, thumbnail: 320, mediumBytes: 100, thumbnailBytes: 16_384)
        let bytes = try Fixture.bytes("silent.jpg")
        let error = #expect(throws: PictureError.self) {
            try maker.prepare(bytes, keepsOriginal: false, limits: small)
        }
        #expect(error?.code == .damaged)
    }

    @Test func aThumbnailStaysWithinItsLimit() throws {
        var numbers = RepeatableRandom()
        // JPEG compresses noise worst, so its thumbnail would be the largest. A GIF of 7 bits a pixel needs no compression:
        // codes of 8 bits, with one that clears the table before it grows.
        let bytes = gif(320, 320) { UInt8.random(in: 0..<128, using: &numbers) }
        let made = try maker.prepare(
            bytes, keepsOriginal: false,
            limits: .init(medium: 2_048, thumbnail: 320, mediumBytes: 16 << 20, thumbnailBytes: 16_384))
        #expect(1...16_384 ~= made.thumbnail.count)
    }

    private func gif(_ width: Int, _ height: Int, _ pixel: () -> UInt8) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        var codes: [UInt8] = []
        for index in 0..<width * height {
            if index % 100 == 0 { codes.append(128) }
            codes.append(pixel())
        }
        codes.append(129)
        var bytes = Array("GIF89a".utf8) + number(width) + number(height) + [0xF6, 0, 0]
        for level in 0..<128 { bytes += [UInt8(level * 37 % 256), UInt8(level * 2), UInt8(level * 91 % 256)] }
        bytes += [0x2C, 0, 0, 0, 0] + number(width) + number(height) + [0, 7]
        for start in stride(from: 0, to: codes.count, by: 255) {
            let block = codes[start..<min(start + 255, codes.count)]
            bytes += [UInt8(block.count)] + block
        }
        return bytes + [0, 0x3B]
    }

    private func sentence(_ bytes: [UInt8]) -> String? {
        do throws(PictureError) {
            _ = try maker.prepare(bytes, keepsOriginal: true, limits: limits)
            return nil
        } catch {
            return error.sentence
        }
    }

    @Test(
        arguments: [
            "orientation-6.jpg", "everything.jpg", "transparent.png", "picture.webp", "picture.gif", "turned.heic",
            "picture.avif",
        ]) func aFileThatWasCutOffIsCalledIncomplete(_ name: String) throws
    {
        let whole = try Fixture.bytes(name)
        // What follows the end of everything.jpg isn't a part of it.
        let length = Data(whole).range(of: Data("behind its end".utf8))?.lowerBound ?? whole.count
        for part in [length / 2, length * 3 / 4] {
            #expect(sentence(Array(whole.prefix(part)))?.contains("incomplete") == true, "\(part) bytes of \(name)")
        }
    }

    @Test func aDamagedJPEGIsNotCalledIncomplete() throws {
        var bytes = try Fixture.bytes("orientation-1.jpg")
        bytes.replaceSubrange(bytes.count - 200..<bytes.count - 100, with: [UInt8](repeating: 0xFE, count: 100))
        #expect(sentence(bytes)?.contains("damaged") == true)
    }

    /// Cameras that lose power write such files, and every program shows them.
    @Test func aJPEGWithoutItsEndMarkerIsOpened() throws {
        let bytes = try Fixture.bytes("silent.jpg")
        #expect(bytes.suffix(2) == [0xFF, 0xD9] && sentence(Array(bytes.dropLast(2))) == nil)
    }

    @Test func aFormatThatIsNotSupportedIsNamed() {
        #expect(
            sentence([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0])?.hasPrefix("TIFF and raw pictures are not supported") == true)
        #expect(sentence([0, 0, 0, 12] + Array("JXL ".utf8))?.hasPrefix("JPEG XL") == true)
    }

    @Test func theMissingLibraryOfHEICIsNamed() {
        let error = PictureError(reason: "library", .heic)
        #expect(error.code == .notPicture && error.sentence.contains("install the package libheif1"))
        // Whatever else the process writes is from the picture.
        #expect(PictureError(reason: "/etc/passwd", .heic) == .damaged)
    }

    @Test func noBytesOfADamagedFileEndInAnythingButAPictureOrAnError() throws {
        var numbers = RepeatableRandom(seed: 17)
        for name in [
            "turned.heic", "picture.avif", "animated.webp", "animated.gif", "transparent.png", "everything.jpg",
        ] {
            let whole = try Fixture.bytes(name)
            for _ in 0..<12 {
                var bytes = whole
                for _ in 0..<4 {
                    bytes[Int.random(in: 16..<bytes.count, using: &numbers)] = UInt8.random(
                        in: 0...255, using: &numbers)
                }
                guard let made = try? maker.prepare(bytes, keepsOriginal: true, limits: limits) else { continue }
                #expect(made.thumbnail.count <= limits.thumbnailBytes)
            }
        }
    }

    @Test(.requires(.program("cc"))) func theDecoderCanNotOpenFilesOrStartPrograms() async throws {
        let directory = try TemporaryDirectory()
        let probe = try await SandboxProbe(in: directory)
        let attempts = [
            "open", "create", "remove", "internet socket", "local socket", "fork", "signal", "execute",
        ]
        #expect(try await probe.attempts(isConfined: false) == attempts.map { "\($0) is possible" })
        #expect(try await probe.attempts(isConfined: true) == attempts.map { "\($0) is refused" })

        // The decoder stops at its full output, while it is confined.
        let path = directory.path("picture")
        try Data(gif(640, 640) { 1 }).write(to: URL(fileURLWithPath: path))
        let decoder = Process()
        decoder.executableURL = URL(fileURLWithPath: try BuiltProducts.path("applocker-picture"))
        decoder.arguments = ["rgb", "gif", "1", "640", "640"]
        decoder.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let output = Pipe()
        decoder.standardOutput = output
        try decoder.run()
        defer { decoder.terminate() }
        let status = "/proc/\(decoder.processIdentifier)/status"
        await eventually("a filter of system calls") {
            let lines = (try? String(contentsOfFile: status, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.contains("Seccomp:\t2") && lines.contains("NoNewPrivs:\t1")
        }
    }

    @Test func aFileThatIsNotAPictureIsRefused() throws {
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
        #expect(refusal([0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0]) == .damaged)
        let whole = try Fixture.bytes("silent.jpg")
        #expect(refusal(Array(whole.prefix(40))) == .damaged)
        // It claims to be 60,000 by 60,000.
        var large = try Fixture.bytes("picture.gif")
        large.replaceSubrange(6..<10, with: [0x60, 0xEA, 0x60, 0xEA])
        #expect(refusal(large) == .tooLarge)
        // Some decoders read other files that a playlist names; here it must not.
        #expect(refusal(Array("ffconcat version 1.0\nfile '/etc/passwd'\n".utf8)) == .notPicture)
    }

    @Test func withoutTheDecoderTheErrorNamesIt() throws {
        let maker = PictureMaker(executable: "/nonexistent/applocker-picture")
        let error = #expect(throws: PictureError.self) {
            _ = try maker.prepare(try Fixture.bytes("silent.jpg"), keepsOriginal: false, limits: limits)
        }
        #expect(error?.code == .failed && error?.sentence.contains("applocker-picture") == true)
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
