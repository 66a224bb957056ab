import SystemTestSupport
import TestSupport
import Testing

@testable import UnlockPrompt

struct PhotoFileTests {
    /// Start of image, a comment, a frame header, end of image.
    private static func picture(width: Int, height: Int) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 1, 2, 0xFF, 0xFF, 0xC0, 0, 17, 8]
            + [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF)]
            + [3, 0xFF, 0xD9]
    }

    @Test func theSizeIsReadAfterOtherSegments() throws {
        let photo = try PhotoFile(bytes: Self.picture(width: 640, height: 480))
        #expect(photo.width == 640)
        #expect(photo.height == 480)
    }

    @Test func aPictureThatNeedsGigabytesIsNotDecoded() {
        #expect(throws: PhotoFailure.tooManyPixels(width: 65_535, height: 65_535)) {
            try PhotoFile(bytes: Self.picture(width: 65_535, height: 65_535))
        }
        #expect(throws: PhotoFailure.damaged) { try PhotoFile(bytes: Self.picture(width: 0, height: 1)) }
    }

    @Test func otherBytesAreNotAPicture() {
        for bytes: [UInt8] in [[], [0xFF], [0xFF, 0xD8], Array("hello".utf8), [0x89, 0x50, 0x4E, 0x47]] {
            #expect(throws: PhotoFailure.notJPEG) { try PhotoFile(bytes: bytes) }
        }
    }

    @Test func aTruncatedPictureIsDamaged() {
        let whole = Self.picture(width: 2, height: 2)
        for count in 3..<whole.count {
            #expect(throws: PhotoFailure.damaged) { try PhotoFile(bytes: Array(whole[..<count])) }
        }
    }

    @Test func malformedBytesAreNeverReadOutOfBounds() {
        var random = RepeatableRandom()
        for _ in 0..<2000 {
            let middle = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Bool.random(using: &random) ? 0xFF : UInt8.random(in: 0...255, using: &random)
            }
            do throws(PhotoFailure) {
                let photo = try PhotoFile(bytes: [0xFF, 0xD8, 0xFF] + middle + [0xFF, 0xD9])
                #expect(photo.width * photo.height <= PhotoFile.maximumPixels)
            } catch {
                #expect(error != .notJPEG)
            }
        }
    }
}
