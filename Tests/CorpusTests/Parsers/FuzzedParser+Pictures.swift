import Foundation

@testable import Pictures
@testable import SealedFormats

/// What pictures say of themselves, and what lies in the records of moments.
extension FuzzedParser {
    static func picture(_ bytes: [UInt8]) {
        if let exif = Exif(bytes) {
            precondition(1...8 ~= exif.orientation, "an orientation that is none")
            precondition(abs(exif.latitude ?? 0) <= 90 && abs(exif.longitude ?? 0) <= 180, "a point beyond the globe")
            precondition((exif.latitude == nil) == (exif.longitude == nil), "half a point")
            precondition(abs(exif.offset ?? 0) <= 1_080, "a zone beyond the globe")
        }
        for orientation in [1, 6] {
            guard let stripped = JPEGSegments.stripped(bytes, orientation: orientation) else { continue }
            precondition(stripped.count <= bytes.count + 40, "it grew")
            precondition(JPEGSegments.size(of: stripped) == JPEGSegments.size(of: bytes), "another size")
            precondition((Exif(stripped)?.orientation ?? 1) == orientation, "turned otherwise")
            precondition(Exif(stripped)?.local == nil && Exif(stripped)?.latitude == nil, "it still says where or when")
            same(JPEGSegments.stripped(stripped, orientation: orientation) ?? [], as: stripped)
        }
        if let stripped = PNGChunks.stripped(bytes) { same(PNGChunks.stripped(stripped) ?? [], as: stripped) }
        if let type = PictureType(bytes), let size = try? PictureSize(of: bytes, type) {
            precondition(size.width > 0 && size.height > 0, "a size that is none")
            precondition(size.fitting(side: 320).longerSide <= 320, "it does not fit")
        }
    }

    /// As a moment, and as a photo whose content it names itself.
    static func moment(_ bytes: [UInt8]) {
        if let moment = try? MomentBody(bytes: Data(bytes)) {
            precondition((try? MomentBody(bytes: moment.bytes())) == moment, "a moment that is another one afterwards")
        }
        let ids = [[UInt8](1...16), [UInt8](17...32)].compactMap { ItemID(bytes: $0) }
        for blobs in [ids, Array(ids.prefix(1))] {
            guard let photo = try? PhotoBody(bytes: Data(bytes), blobs: blobs) else { continue }
            precondition((try? PhotoBody(bytes: photo.bytes(), blobs: blobs)) == photo, "a photo that is another one")
        }
    }
}
