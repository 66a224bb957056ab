import ControlAPI
import Foundation

/// Moments as a page and as data that other programs can read without AppLocker.
struct TimelinePage {
    /// A photo's file in the page's folder; nil if it could not be opened.
    struct File: Sendable {
        var photo: MomentReport.Photo
        var type: String
        /// Seconds since 1970.
        var taken: Double?
        var path: String?
    }

    struct Moment: Sendable {
        var content: MomentContent
        var photos: [File]
    }

    /// Newest first.
    let moments: [Moment]

    /// `Vectors/moment-pages.css`, which the companion's export has too.
    static let style = """
        :root { color-scheme: light dark; --text: #1d2130; --soft: #5b647c; --ground: #f6f5f3; --card: #fff; --heart: #b4326b; }
        @media (prefers-color-scheme: dark) {
            :root { --text: #eef0f7; --soft: #a9b2c8; --ground: #12151f; --card: #1b2030; --heart: #ff9cc4; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
        main { max-width: 44rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
        h1 { font-size: 2.2rem; margin: 0; }
        h2 { font-size: 1.5rem; margin: 3rem 0 1rem; }
        article { background: var(--card); border-radius: 1rem; padding: 1.25rem; margin: 0 0 1.25rem; }
        article { overflow-wrap: anywhere; }
        h3 { margin: 0; font-size: 1.15rem; }
        .soft { color: var(--soft); margin: 0 0 .5rem; font-size: .9rem; }
        .words { white-space: pre-wrap; margin: .5rem 0; }
        .heart { color: var(--heart); }
        .photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: .5rem; margin-top: .75rem; }
        .photos a { display: block; }
        .photos a:only-child, .photos video:only-child, .photos audio { grid-column: 1 / -1; }
        .photos img, .photos video { display: block; width: 100%; height: auto; border-radius: .5rem; }
        .photos audio { width: 100%; align-self: center; }
        @media print { article { break-inside: avoid; } }
        """

    /// The page depends only on the photos in its folder. It runs no script, whatever a moment contains.
    var html: String {
        var parts: [String] = []
        var year: Int?
        for moment in moments {
            let own = moment.content.moment.time.day.year
            if own != year { parts.append("<h2>\(own)</h2>") }
            year = own
            parts.append(Self.article(moment))
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; media-src 'self' file:; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Everline</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <main>
            <h1>Everline</h1>
            <p class="soft">\(moments.count == 1 ? "1 moment" : "\(moments.count) moments")</p>
            \(parts.joined(separator: "\n"))
            </main>
            </body>
            </html>

            """
    }

    private static func article(_ one: Moment) -> String {
        let (moment, words) = (one.content.moment, one.content.words)
        let facts = [moment.time.spoken, moment.mood, moment.place?.spoken ?? ""].filter { !$0.isEmpty }
        let heart = moment.favourite ? " <span class=\"heart\" title=\"Favourite\">♥</span>" : ""
        var lines = ["<article id=\"m\(moment.id)\">"]
        if !moment.title.isEmpty || moment.favourite {
            lines.append("<h3 dir=\"auto\">\(escaped(moment.title))\(heart)</h3>")
        }
        lines.append("<p class=\"soft\" dir=\"auto\">\(escaped(facts.joined(separator: " · ")))</p>")
        if !words.isEmpty { lines.append("<p class=\"words\" dir=\"auto\">\(escaped(words))</p>") }
        let shown = one.photos.compactMap { file in
            file.path.map { path -> String in
                if file.type.hasPrefix("audio/") { return "<audio controls preload=\"none\" src=\"\(path)\"></audio>" }
                let size = "width=\"\(file.photo.width)\" height=\"\(file.photo.height)\""
                return file.type.hasPrefix("video/")
                    ? "<video controls preload=\"metadata\" src=\"\(path)\" \(size)></video>"
                    : "<a href=\"\(path)\"><img src=\"\(path)\" \(size) loading=\"lazy\" alt=\"\"></a>"
            }
        }
        if !shown.isEmpty { lines.append("<div class=\"photos\">\(shown.joined(separator: "\n"))</div>") }
        let missing = one.photos.count - shown.count
        if missing > 0 {
            lines.append(
                "<p class=\"soft\">\(missing == 1 ? "1 file" : "\(missing) files") could not be opened.</p>")
        }
        return (lines + ["</article>"]).joined(separator: "\n")
    }

    /// Escapes text for any place in a page.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.append(character)
            }
        }
    }

    // MARK: Data

    private struct Document: Encodable {
        struct Photo: Encodable {
            var id: String
            var file: String?
            var type: String
            var width: Int
            var height: Int
            var taken: String?
            /// In seconds.
            var duration: Double?
        }

        struct Entry: Encodable {
            var id: String
            var title: String
            var words: String
            var date: String
            var mood: String
            var place: MomentPlace?
            var favourite: Bool
            var created: String
            var modified: String
            var photos: [Photo]
        }

        var format = "everline-moments"
        var version = 1
        var exported: String
        var moments: [Entry]
    }

    /// JSON, for other programs.
    func data(now: Date) throws -> [UInt8] {
        func text(_ time: Double) -> String { Date(timeIntervalSince1970: time).ISO8601Format() }
        let entries = moments.map { one in
            let moment = one.content.moment
            return Document.Entry(
                id: moment.id, title: moment.title, words: one.content.words, date: moment.time.localWithZone,
                mood: moment.mood, place: moment.place, favourite: moment.favourite, created: text(moment.created),
                modified: text(moment.modified),
                photos: one.photos.map { file in
                    Document.Photo(
                        id: file.photo.id, file: file.path, type: file.type, width: file.photo.width,
                        height: file.photo.height, taken: file.taken.map(text), duration: file.photo.duration)
                })
        }
        let document = Document(exported: now.ISO8601Format(), moments: entries)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(document)) + [UInt8(ascii: "\n")]
    }
}
