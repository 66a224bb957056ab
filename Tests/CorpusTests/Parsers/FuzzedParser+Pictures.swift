import Foundation

@testable import Pictures
@testable import SealedFormats

/// Metadata of pictures, and records of moments.
extension FuzzedParser {
    static func picture(_ bytes: [UInt8]) {
        if let exif = Exif(bytes) {
            precondition(1...8 ~= exif.orientation, "an invalid orientation")
            precondition(abs(exif.latitude ?? 0) <= 90 && abs(exif.longitude ?? 0) <= 180, "a point beyond the globe")
            precondition((exif.latitude == nil) == (exif.longitude == nil), "a latitude or a longitude alone")
            precondition(abs(exif.offset ?? 0) <= 1_080, "a zone beyond the globe")
        }
        for orientation in [1, 6] {
            guard let stripped = JPEGSegments.stripped(bytes, orientation: orientation) else { continue }
            precondition(stripped.count <= bytes.count + 40, "it is longer than the original")
            precondition(JPEGSegments.size(of: stripped) == JPEGSegments.size(of: bytes), "its size has changed")
            precondition((Exif(stripped)?.orientation ?? 1) == orientation, "its orientation has changed")
            precondition(Exif(stripped)?.local == nil && Exif(stripped)?.latitude == nil, "it has a place or time")
            same(JPEGSegments.stripped(stripped, orientation: orientation) ?? [], as: stripped)
        }
        if let stripped = PNGChunks.stripped(bytes) { same(PNGChunks.stripped(stripped) ?? [], as: stripped) }
    }

    /// As a moment, and as a photo whose content it names itself.
    static func moment(_ bytes: [UInt8]) {
        if let moment = try? MomentBody(bytes: Data(bytes)) {
            precondition((try? MomentBody(bytes: moment.bytes())) == moment, "another moment after encoding")
        }
        let ids = [[UInt8](1...16), [UInt8](17...32)].compactMap { ItemID(bytes: $0) }
        for blobs in [ids, Array(ids.prefix(1))] {
            guard let photo = try? PhotoBody(bytes: Data(bytes), blobs: blobs) else { continue }
            precondition((try? PhotoBody(bytes: photo.bytes(), blobs: blobs)) == photo, "another photo after encoding")
        }
    }
}
