import SystemTestSupport
import TestSupport
import Testing

/// Each page in a window as narrow as a phone, with what a desktop's settings change in its appearance.
@Suite(.windowSession) struct NarrowWindowTests {
    /// A key for each page, and words that appear with it: the title where four say that the vault is locked. The window
    /// opens with the first page, which is shown again before the last.
    private let pages = [
        ("alt+2", "No app is locked yet. Lock one below, or drop an app here."),
        (
            "alt+3",
            "Each event names the one before it and is signed. A check detects changed and removed events, also at the end."
        ),
        ("alt+4", "Notes"), ("alt+5", "Files"), ("alt+6", "Everline"), ("alt+7", "Intruder Photos"),
        ("alt+8", "A hub passes sealed records between your devices. It can read nothing."),
        ("alt+9", "Make Recovery Sheet"), ("alt+1", "No app is locked"), ("alt+0", "An unlock lasts"),
    ]

    /// Opens each page in a window of 360 pixels, and expects that nothing is wider.
    /// - Parameter translated: a message as the window shows it.
    private func expectThatEachPageFits(
        _ session: WindowSession, _ name: String, translated: (String) throws -> String = { $0 }
    ) async throws {
        let window = try #require(try await session.xWindows().first)
        for (key, message) in pages {
            // The page before may have made it wider.
            try await session.x("xdotool", "windowsize", "--sync", window, "360", "720")
            let words = message == "Everline" ? message : try translated(message)
            func count() async throws -> Int {
                try await session.parts().count { $0.name.contains(words) || $0.text.contains(words) }
            }
            // The list of pages has the title too.
            let before = try await count()
            try await session.press(keys: key)
            try await session.awaiting("\(key) shows \(words)") { try await count() > before }
            try await session.photograph("\(name)-\(key.suffix(1))")
            let outside = try await session.partsOutside()
            #expect(outside.isEmpty, "\(key): \(outside)")
            let size = try await session.x("xdotool", "getwindowgeometry", "--shell", window)
            #expect(size.contains("WIDTH=360\n") && size.contains("HEIGHT=720\n"), "\(key): \(size)")
        }
    }

    @Test func eachPageFitsInDark() async throws {
        let session = try await WindowSession(settings: ["ADW_DEBUG_COLOR_SCHEME": "prefer-dark"])
        try await session.startWindow()
        try await expectThatEachPageFits(session, "dark")
        let window = try #require(try await session.xWindows().first)
        // One pixel, the mean of all: "0,0: (36)  #242424  gray(36)".
        let mean = try await session.x(
            "import", "-window", window, "-resize", "1x1!", "-colorspace", "gray", "-depth", "8", "txt:-")
        let level = try #require(mean.firstMatch(of: /#([0-9A-F]{2})/).flatMap { Int($0.1, radix: 16) }, "\(mean)")
        #expect(level < 100, "the window is dark: \(mean)")
    }

    @Test(.requires(.program("xprop"))) func eachPageFitsWithTextOfTwiceTheSize() async throws {
        let session = try await WindowSession()
        // As a desktop does with a text scaling factor of 2: GTK multiplies the resolution of fonts by it.
        try await session.x(
            "xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.dpi:\t192\n")
        try await session.startWindow()
        try await expectThatEachPageFits(session, "large")
        // 18 pixels with text of the usual size.
        let row = try #require(try await session.parts().first { $0.role == "label" && $0.name == "An unlock lasts" })
        #expect(row.height >= 34, "the text is large: \(row)")
    }

    /// There is no Hebrew catalogue: GTK goes by the first language, and AppLocker's texts are those of the second.
    @Test(
        .requires(.program("msgfmt"), .path("/usr/share/locale/he/LC_MESSAGES/gtk40.mo")))
    func eachPageFitsFromRightToLeft() async throws {
        let german = try GermanCatalogue.messages()
        let session = try await WindowSession(settings: ["LANGUAGE": "he:de"])
        try await session.startWindow(shows: "Menü")
        try await expectThatEachPageFits(session, "right-to-left") { english in
            try #require(german[english], "\(english)")
        }
        let name = try #require(german["Show pages"])
        let (parts, windows) = (try await session.parts(), try await session.windows())
        let back = try #require(parts.last { $0.name == name && $0.role == "push button" })
        let window = try #require(windows.first)
        #expect(back.x > window.width / 2, "the button is on the right: \(back)")
    }
}
