/// When and where a picture was taken, from a JPEG, HEIC, AVIF or WebP (Exif 2.32, CIPA DC-008; TIFF 6.0). Pictures come from
/// anywhere: every offset is checked before it is followed, nothing is followed twice, and what is invalid is left out.
public struct Exif: Equatable, Sendable {
    /// By the clocks there.
    public struct LocalTime: Equatable, Sendable {
        public var year: Int
        public var month: Int
        public var day: Int
        public var hour: Int
        public var minute: Int
        public var second: Int

        public init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
            (self.year, self.month, self.day) = (year, month, day)
            (self.hour, self.minute, self.second) = (hour, minute, second)
        }
    }

    public var local: LocalTime?
    /// The local time's offset from UTC in minutes; nil if the picture has none.
    public var offset: Int?
    /// Degrees, north and east positive; both or neither.
    public var latitude: Double?
    public var longitude: Double?
    /// 1 to 8.
    public var orientation = 1

    /// Nil if the file has no readable Exif data.
    public init?(_ bytes: [UInt8]) {
        let found: ArraySlice<UInt8>? =
            switch PictureType(bytes) {
            case .jpeg: JPEGSegments.exif(in: bytes)
            case .heic, .avif: HEIFBoxes.exif(in: bytes)
            case .webp: WebPChunks.exif(in: bytes)
            case .png, .gif, nil: nil
            }
        guard let found, let tiff = TIFF(found),
            let root = tiff.directory(at: tiff.u32(4))
        else { return nil }
        if let found = tiff.number(root[Tag.orientation]), 1...8 ~= found { orientation = found }
        if let exif = tiff.directory(at: tiff.number(root[Tag.exif])) {
            let original = Self.localTime(tiff.text(exif[Tag.original]))
            local = original ?? Self.localTime(tiff.text(exif[Tag.digitized]))
            if local != nil {
                offset = Self.zone(tiff.text(exif[original != nil ? Tag.offsetOriginal : Tag.offsetDigitized]))
            }
        }
        if let place = tiff.directory(at: tiff.number(root[Tag.gps])) { readPlace(tiff, place) }
    }

    private enum Tag {
        static let orientation: UInt16 = 0x0112
        static let exif: UInt16 = 0x8769
        static let gps: UInt16 = 0x8825
        static let original: UInt16 = 0x9003
        static let digitized: UInt16 = 0x9004
        static let offsetOriginal: UInt16 = 0x9011
        static let offsetDigitized: UInt16 = 0x9012
        static let latitudeSide: UInt16 = 1
        static let latitude: UInt16 = 2
        static let longitudeSide: UInt16 = 3
        static let longitude: UInt16 = 4
    }

    private mutating func readPlace(_ tiff: TIFF, _ entries: [UInt16: TIFF.Entry]) {
        let north = tiff.text(entries[Tag.latitudeSide]).uppercased()
        let east = tiff.text(entries[Tag.longitudeSide]).uppercased()
        guard let latitude = tiff.degrees(entries[Tag.latitude]), let longitude = tiff.degrees(entries[Tag.longitude]),
            latitude <= 90, longitude <= 180, north == "N" || north == "S", east == "E" || east == "W",
            // Where cameras know nothing, they write zeros.
            latitude != 0 || longitude != 0
        else { return }
        self.latitude = north == "S" ? -latitude : latitude
        self.longitude = east == "W" ? -longitude : longitude
    }

    /// "2024:05:17 18:30:05"; nil for what is no moment of any calendar.
    private static func localTime(_ text: String) -> LocalTime? {
        let bytes = Array(text.utf8.prefix(19))
        func number(_ range: Range<Int>) -> Int? {
            bytes[range].reduce(0) { sum, digit in
                (0x30...0x39).contains(digit) ? sum.map { $0 * 10 + Int(digit - 0x30) } : nil
            }
        }
        func stands(_ at: Int, _ one: String, _ other: String) -> Bool {
            [one, other].contains { $0.utf8.elementsEqual([bytes[at]]) }
        }
        guard bytes.count == 19, stands(4, ":", "-"), stands(7, ":", "-"), stands(10, " ", "T"), stands(13, ":", ":"),
            stands(16, ":", ":"), let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        let days = [
            31, year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
        ]
        guard year >= 1800, 1...12 ~= month, 1...days[month - 1] ~= day, hour < 24, minute < 60, second < 60 else {
            return nil
        }
        return LocalTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// "+02:00" as minutes.
    private static func zone(_ text: String) -> Int? {
        let bytes = Array(text.utf8.filter { $0 != 0x20 })
        guard bytes.count == 6, bytes[0] == 0x2B || bytes[0] == 0x2D, bytes[3] == 0x3A,
            [1, 2, 4, 5].allSatisfy({ (0x30...0x39).contains(bytes[$0]) })
        else { return nil }
        func number(_ at: Int) -> Int { Int(bytes[at] - 0x30) * 10 + Int(bytes[at + 1] - 0x30) }
        let minutes = number(1) * 60 + number(4)
        guard minutes <= 1080, number(4) < 60 else { return nil }
        return bytes[0] == 0x2D ? -minutes : minutes
    }
}

/// A TIFF structure (TIFF 6.0, section 2); offsets outside of it are ignored.
private struct TIFF {
    struct Entry {
        var type: UInt16
        var count: Int
        /// The value's offset.
        var at: Int
    }

    private static let maximumEntries = 512
    private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
    private let bytes: [UInt8]
    private let isLittle: Bool

    init?(_ slice: ArraySlice<UInt8>) {
        bytes = Array(slice)
        guard bytes.count >= 8, bytes[0] == bytes[1], bytes[0] == 0x49 || bytes[0] == 0x4D else { return nil }
        isLittle = bytes[0] == 0x49
        guard u16(2) == 42 else { return nil }
    }

    func u16(_ offset: Int) -> Int? { number(offset, 2) }
    func u32(_ offset: Int) -> Int? { number(offset, 4) }

    private func number(_ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - count else { return nil }
        let slice = bytes[offset..<offset + count]
        return isLittle ? slice.reversed().reduce(0) { $0 << 8 | Int($1) } : slice.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The entries by tag, the first of each; nil where there is no directory.
    func directory(at start: Int?) -> [UInt16: Entry]? {
        guard let start, let count = u16(start), count <= Self.maximumEntries, start + 2 + count * 12 <= bytes.count
        else {
            return nil
        }
        var entries: [UInt16: Entry] = [:]
        for index in 0..<count {
            let at = start + 2 + index * 12
            guard let tag = u16(at), let type = u16(at + 2), let values = u32(at + 4), type < Self.sizes.count else {
                continue
            }
            let length = Self.sizes[type] * values
            guard length > 0 else { continue }
            var entry = Entry(type: UInt16(type), count: values, at: at + 8)
            if length > 4 { entry.at = u32(at + 8) ?? bytes.count }
            // A value outside is ignored; the others may still be valid.
            guard entry.at + length <= bytes.count, entries[UInt16(tag)] == nil else { continue }
            entries[UInt16(tag)] = entry
        }
        return entries
    }

    func number(_ entry: Entry?) -> Int? {
        guard let entry, entry.count == 1 else { return nil }
        return entry.type == 3 ? u16(entry.at) : entry.type == 4 ? u32(entry.at) : nil
    }

    /// ASCII up to its end; at most 64 characters.
    func text(_ entry: Entry?) -> String {
        guard let entry, entry.type == 2, entry.count <= 64 else { return "" }
        return String(decoding: bytes[entry.at..<entry.at + entry.count].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Degrees, minutes and seconds.
    func degrees(_ entry: Entry?) -> Double? {
        guard let entry, entry.type == 5, entry.count == 3 else { return nil }
        var sum = 0.0
        for (index, part) in [1.0, 60, 3_600].enumerated() {
            guard let above = u32(entry.at + index * 8), let below = u32(entry.at + index * 8 + 4), below > 0 else {
                return nil
            }
            sum += Double(above) / Double(below) / part
        }
        return sum
    }
}
