import ControlAPI
import Foundation
import Pictures
import SystemTestSupport
import Testing

@testable import AppLockerCLI
@testable import MomentTransfer

/// Moments as text on the command line, and as pictures in a terminal.
@Suite struct MomentTextTests {
    @Test func datesHaveATimeZoneOrUseThisComputers() throws {
        let full = try #require(DateArgument(argument: "2024-05-17T18:30:05+02:00")).time
        #expect(full == MomentTime(date: 1_715_963_405, offset: 120))
        #expect(full.localWithZone == "2024-05-17T18:30:05+02:00")
        #expect(full.spoken == "2024-05-17 18:30")
        #expect(try #require(DateArgument(argument: "2024-05-17 18:30:05-09:30")).time.offset == -570)
        #expect(try #require(DateArgument(argument: "1969-12-31T23:59:59Z")).time.date == -1)
        // A day alone means its noon, in every time zone.
        #expect(try #require(DateArgument(argument: "2019-02-28")).time.local == "2019-02-28T12:00:00")
    }

    /// A picture without a time uses its file's time, which can have any value.
    @Test(arguments: [Double(Int64.max), 1e308, -1e308, Double.infinity, -Double.infinity, Double.nan, 253_402_300_800])
    func aFilesTimeIsClampedToTheRangeOfMoments(_ date: Double) {
        let time = MomentTime(date: date)
        #expect(1...9_999 ~= time.day.year && time.local.utf8.count == 19)
    }

    @Test(arguments: [
        "2024-02-30", "2024-05-17 24:00", "2024-05-17 12:60", "2024-05-17x", "2024-05-17 ", "2024-05-17T18:30+25:00",
        "2024-05-17T18:30+0200", "yesterday", "", "2024-05-17 18", "2024-05-17 18:30:05:01", "2024-05-17 -1:30",
    ]) func anInvalidDateIsRefused(_ text: String) { #expect(DateArgument(argument: text) == nil) }

    @Test func aPlaceIsANameAPointOrBoth() {
        #expect(PlaceArgument(argument: "Zürich")?.place == MomentPlace(name: "Zürich"))
        #expect(
            PlaceArgument(argument: "me@home@47.5,-8")?.place
                == MomentPlace(name: "me@home", latitude: 47.5, longitude: -8))
        #expect(PlaceArgument(argument: "@0,180")?.place == MomentPlace(name: nil, latitude: 0, longitude: 180))
        for text in ["", "x@", "x@1", "x@91,0", "x@0,181", "x@nan,0", "x@1,2,3"] {
            #expect(PlaceArgument(argument: text) == nil, "\(text)")
        }
    }

    @Test func theTerminalsReplySelectsThePictureFormat() {
        func found(_ answer: String, _ environment: [String: String] = [:]) -> TerminalPicture {
            TerminalPicture(answer: Array(answer.utf8), environment: environment)
        }
        #expect(found("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;4c") == .kitty)
        #expect(found("\u{1B}_Gi=31;EINVAL:bad\u{1B}\\\u{1B}[?62;4;22c") == .sixel)
        #expect(found("\u{1B}[?62;22;44c") == .halfBlocks(hasTrueColour: false))
        #expect(found("", ["COLORTERM": "truecolor"]) == .halfBlocks(hasTrueColour: true))
    }

    @Test func halfBlocksShowTwoPixelsACharacter() {
        let rgb: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 1, 2, 3, 4, 5, 6]
        let text = TerminalPicture.halfBlocks(PictureSize(width: 2, height: 3), rgb, hasTrueColour: true)
        #expect(
            text == "\u{1B}[38;2;255;0;0;48;2;0;0;255m▀\u{1B}[38;2;0;255;0;48;2;255;255;255m▀\u{1B}[0m\n"
                + "\u{1B}[38;2;1;2;3;49m▀\u{1B}[38;2;4;5;6;49m▀\u{1B}[0m\n")
        #expect(
            TerminalPicture.halfBlocks(PictureSize(width: 1, height: 1), [255, 0, 0], hasTrueColour: false)
                == "\u{1B}[38;5;196;49m▀\u{1B}[0m\n")
    }

    /// Decoded by an independent reader of sixels.
    @Test func sixelsReproduceThePicture() throws {
        let size = PictureSize(width: 37, height: 20)
        var rgb: [UInt8] = []
        for row in 0..<size.height {
            for column in 0..<size.width { rgb += column * 20 / size.width > row ? [255, 0, 0] : [0, 0, 255] }
        }
        let drawn = try SixelReader(Sixels.text(size, rgb)).pixels(size)
        #expect(drawn == rgb)
    }

    @Test func theTextOfAMomentIsEscapedInThePage() throws {
        let evil = "<script>alert(1)</script>\" onerror='x' &amp;"
        let moment = MomentReport(
            id: String(repeating: "0", count: 32), revision: 1, title: evil, date: 0, offset: 0, mood: evil,
            place: MomentPlace(name: evil), photos: [], favourite: false, created: 0, modified: 0, removed: nil)
        let page = TimelinePage(moments: [.init(content: MomentContent(moment: moment, words: evil), photos: [])])
        #expect(!page.html.contains("<script") && !page.html.contains("onerror='"))
        #expect(page.html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onerror=&#39;x&#39; &amp;amp;"))
        let data = try JSONSerialization.jsonObject(with: Data(try page.data(now: Date(timeIntervalSince1970: 0))))
        let entry = ((data as? [String: Any])?["moments"] as? [[String: Any]])?.first
        #expect(entry?["words"] as? String == evil && entry?["date"] as? String == "1970-01-01T00:00:00+00:00")
    }

    @Test func thePageHasTheCompanionsStyleSheet() throws {
        let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Vectors/moment-pages.css")
        #expect(try TimelinePage.style + "\n" == String(contentsOf: vectors, encoding: .utf8))
    }

    @Test func namesOfPhotosAreUnique() {
        var names = PhotoNames()
        let time = MomentTime(date: 1_715_963_405, offset: 120)
        #expect(names.next(time, "image/jpeg") == "2024-05-17_18-30-05.jpg")
        #expect(names.next(time, "image/jpeg") == "2024-05-17_18-30-05-2.jpg")
        #expect(names.next(time, "image/png") == "2024-05-17_18-30-05.png")
        #expect(names.next(time, "video/quicktime") == "2024-05-17_18-30-05.mov")
        #expect(names.next(time, "audio/webm") == "2024-05-17_18-30-05.webm")
    }

    @Test func aRecordingHasAPlayerInThePage() throws {
        func file(_ type: String, _ path: String) -> TimelinePage.File {
            .init(photo: .init(id: path, width: 4, height: 3), type: type, taken: nil, path: path)
        }
        let moment = MomentReport(
            id: "", revision: 1, title: "", date: 0, offset: 0, mood: "", place: nil, photos: [], favourite: false,
            created: 0, modified: 0, removed: nil)
        let files = [file("image/png", "a.png"), file("video/mp4", "b.mp4"), file("audio/wav", "c.wav")]
        let page = TimelinePage(moments: [.init(content: MomentContent(moment: moment, words: ""), photos: files)]).html
        for part in [
            #"<img src="a.png""#, #"<video controls preload="metadata" src="b.mp4""#,
            #"<audio controls preload="none" src="c.wav">"#, "media-src 'self' file:",
        ] {
            #expect(page.contains(part), "\(part)")
        }
    }

    @Test func statisticsCountMomentsPhotosPlacesAndDays() throws {
        func moment(_ date: Double, _ mood: String, _ photos: Int, _ place: String?) -> MomentReport {
            MomentReport(
                id: "", revision: 1, title: "", date: date, offset: 0, mood: mood,
                place: place.map { MomentPlace(name: $0) },
                photos: (0..<photos).map { .init(id: String($0), width: 1, height: 1) }, favourite: mood == "joy",
                created: 0, modified: 0, removed: nil)
        }
        let together = try #require(LocalDay("2024-01-01"))
        let today = try #require(LocalDay("2024-12-31"))
        let statistics = MomentStatistics(
            [
                moment(1_715_961_600, "joy", 2, "Lake"), moment(1_715_961_700, "joy", 0, "LAKE"),
                moment(0, "calm", 1, nil),
            ],
            together: together, today: today)
        #expect(statistics.moments == 3 && statistics.photos == 3 && statistics.favourites == 2)
        #expect(statistics.places == 1 && statistics.days == 2 && statistics.first == "1970-01-01")
        #expect(statistics.moods == [.init(mood: "joy", moments: 2), .init(mood: "calm", moments: 1)])
        #expect(
            statistics.years == [
                .init(year: 2024, moments: 2, photos: 2), .init(year: 1970, moments: 1, photos: 1),
            ])
        #expect(
            statistics.months == [
                .init(year: 2024, month: 5, moments: 2, photos: 2), .init(year: 1970, month: 1, moments: 1, photos: 1),
            ])
        #expect(statistics.daysTogether == 365)
        #expect(statistics.videos == 0 && statistics.voiceNotes == 0)
    }

    @Test func recordingsAreNoPhotosInStatisticsAndInAMoment() {
        let kinds: [RecordingKind?] = [nil, .video, .voice, .video]
        let moment = MomentReport(
            id: "", revision: 1, title: "", date: 0, offset: 0, mood: "", place: nil,
            photos: kinds.enumerated().map { .init(id: String($0), width: 1, height: 1, kind: $1) }, favourite: false,
            created: 0, modified: 0, removed: nil)
        let statistics = MomentStatistics([moment])
        #expect(statistics.photos == 1 && statistics.videos == 2 && statistics.voiceNotes == 1)
        #expect(statistics.years == [.init(year: 1970, moments: 1, photos: 1)])
        #expect(statistics.lines(Paint(isColoured: false))[0].contains("1 photo, 2 videos, 1 voice note, 0 favourites"))
        #expect(moment.photos.countedKinds == ["1 photo", "2 videos", "1 voice note"])
    }
}

/// Draws sixels, as the VT340's manual describes them.
private struct SixelReader {
    private let bytes: [UInt8]

    init(_ text: String) throws {
        let all = Array(text.utf8)
        let start = try #require(all.firstIndex(of: UInt8(ascii: "q")))
        bytes = Array(all[(start + 1)...].prefix { $0 != 0x1B })
    }

    func pixels(_ size: PictureSize) throws -> [UInt8] {
        var colours: [Int: [UInt8]] = [:]
        var drawn = [UInt8](repeating: 77, count: size.width * size.height * 3)
        var (at, column, top, colour, count) = (0, 0, 0, 0, 1)
        func numbers() -> [Int] {
            var found = [0]
            while at < bytes.count {
                if bytes[at] == UInt8(ascii: ";") {
                    found.append(0)
                } else if (0x30...0x39).contains(bytes[at]) {
                    found[found.count - 1] = found[found.count - 1] * 10 + Int(bytes[at] - 0x30)
                } else {
                    break
                }
                at += 1
            }
            return found
        }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): _ = numbers()
            case UInt8(ascii: "#"):
                let found = numbers()
                colour = found[0]
                if found.count == 5 { colours[colour] = found[2...].map { UInt8($0 * 255 / 100) } }
            case UInt8(ascii: "!"): count = numbers()[0]
            case UInt8(ascii: "$"): column = 0
            case UInt8(ascii: "-"): (column, top) = (0, top + 6)
            case 0x3F...0x7E:
                let ink = try #require(colours[colour])
                for _ in 0..<count {
                    for row in 0..<6 where (byte - 0x3F) & (1 << UInt8(row)) != 0 {
                        let place = ((top + row) * size.width + column) * 3
                        drawn.replaceSubrange(place..<place + 3, with: ink)
                    }
                    column += 1
                }
                count = 1
            default: Issue.record("an unknown byte \(byte)")
            }
        }
        return drawn
    }
}
