import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Pictures

/// The metadata of pictures made by other programs (Fixtures/make_fixtures.py).
@Suite struct ExifTests {
    @Test(arguments: 1...8) func timePlaceAndOrientationAreReadFromExif(_ orientation: Int) throws {
        let exif = try #require(Exif(try Fixture.bytes("orientation-\(orientation).jpg")))
        #expect(exif.orientation == orientation)
        #expect(exif.local == .init(year: 2024, month: 5, day: 17, hour: 18, minute: 30, second: 5))
        #expect(exif.offset == 120)
        #expect(abs(try #require(exif.latitude) - 47.3769) < 1e-5)
        #expect(abs(try #require(exif.longitude) - 8.5417) < 1e-5)
    }

    @Test func southAndWestAreNegativeAndAnAbsentZoneIsAbsent() throws {
        let exif = try #require(Exif(try Fixture.bytes("southwest.jpg")))
        #expect(exif.local == .init(year: 1999, month: 12, day: 31, hour: 23, minute: 59, second: 59))
        #expect(exif.offset == nil && exif.orientation == 1)
        #expect(abs(try #require(exif.latitude) + 33.86) < 1e-9)
        #expect(exif.longitude == -70.5)
    }

    @Test(arguments: ["turned.heic", "picture.webp"]) func aHEICAndAWebPHaveTheSameMetadataAsAJPEG(_ name: String)
        throws
    {
        let exif = try #require(Exif(try Fixture.bytes(name)))
        #expect(exif.local == .init(year: 2024, month: 5, day: 17, hour: 18, minute: 30, second: 5))
        #expect(exif.offset == 120 && abs((exif.longitude ?? 0) - 8.5417) < 1e-5)
    }

    @Test func absentMetadataIsNil() throws {
        #expect(Exif(try Fixture.bytes("silent.jpg")) == nil)
        #expect(Exif(try Fixture.bytes("transparent.png")) == nil)
        #expect(Exif(try Fixture.bytes("several.heic")) == nil)
        #expect(Exif([]) == nil)
    }

    /// Truncated or changed bytes never end the process and never yield an invalid value. 20,000 changes of each picture
    /// with APPLOCKER_LONG=1.
    @Test(arguments: [("orientation-6.jpg", 400), ("turned.heic", 800), ("picture.webp", 1_000)])
    func damagedPicturesYieldNoInvalidValues(_ name: String, reach: Int) throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1"
        let whole = try Fixture.bytes(name)
        for length in 0..<whole.count { look(Array(whole.prefix(length))) }
        var numbers = RepeatableRandom()
        for _ in 0..<(isLong ? 20_000 : 3_000) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                bytes[Int.random(in: 0..<reach, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
            look(bytes)
        }
    }

    private func look(_ bytes: [UInt8]) {
        _ = JPEGSegments.stripped(bytes, orientation: 6)
        guard let exif = Exif(bytes) else { return }
        #expect(1...8 ~= exif.orientation)
        #expect((exif.latitude == nil) == (exif.longitude == nil))
        #expect(abs(exif.latitude ?? 0) <= 90 && abs(exif.longitude ?? 0) <= 180)
        #expect(abs(exif.offset ?? 0) <= 1080)
        if let local = exif.local { #expect(1800...9999 ~= local.year && 1...12 ~= local.month && 1...31 ~= local.day) }
    }
}

enum Fixture {
    static func bytes(_ name: String) throws -> [UInt8] {
        let url = try #require(Bundle.module.url(forResource: "Fixtures/" + name, withExtension: nil))
        return Array(try Data(contentsOf: url))
    }
}
