import AppCatalog
import Foundation
import TestSupport
import Testing

@Suite struct AppIconFileTests {
    private let tree: FixtureTree

    init() throws { tree = try FixtureTree() }

    /// The beginning of a PNG of this size, and bytes up to `count`.
    private func png(_ width: UInt32 = 64, _ height: UInt32 = 64, count: Int = 200) -> Data {
        var bytes = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8)
        for side in [width, height] { bytes += withUnsafeBytes(of: side.bigEndian) { Data($0) } }
        return bytes + Data(count: count - bytes.count)
    }

    private func write(_ data: Data, _ path: String, permissions: Int = 0o644) throws {
        try tree.write("", to: path)
        try data.write(to: URL(fileURLWithPath: tree.root + path))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: tree.root + path)
    }

    @Test func theSizeThatIsShownIsPreferredToALargerOneAndToADrawing() throws {
        try write(png(128, 128), "/usr/share/icons/hicolor/128x128/apps/chess.png")
        try write(Data("<svg xmlns=''></svg>".utf8), "/usr/share/icons/hicolor/scalable/apps/chess.svg")
        #expect(tree.catalog().icon("chess")?.bytes == [UInt8](png(128, 128)))
        try write(png(64, 64), "/usr/share/icons/hicolor/64x64/apps/chess.png")
        #expect(tree.catalog().icon("chess")?.bytes == [UInt8](png(64, 64)))
        // As some entries write it.
        #expect(tree.catalog().icon("chess.png")?.format == .png)
    }

    @Test func anIconOfAFlatpakOfTheUserAndAnAbsolutePathAreFound() throws {
        try write(png(), "/home/ann/.local/share/flatpak/exports/share/icons/hicolor/64x64/apps/org.x.Y.png")
        try write(png(), "/opt/tool/icon.png")
        #expect(tree.catalog().icon("org.x.Y") != nil)
        #expect(tree.catalog().icon("/opt/tool/icon.png") != nil)
        #expect(tree.catalog().icon("tool") == nil)
    }

    /// A user's own entry could name a file that only the daemon may read, and a phone would get it.
    @Test func aFileThatNotEverybodyMayReadIsNeverSent() throws {
        try write(png(), "/var/lib/applocker/secret.png", permissions: 0o640)
        try tree.link("/home/ann/.local/share/icons/hicolor/64x64/apps/x.png", to: "/var/lib/applocker/secret.png")
        #expect(tree.catalog().icon("/var/lib/applocker/secret.png") == nil)
        #expect(tree.catalog().icon("x") == nil)
    }

    @Test(arguments: [
        Data("root:x:0:0:root:/root:/bin/bash\n".utf8), Data(), Data([0x89, 0x50, 0x4E, 0x47]),
    ])
    func whatIsNoPictureIsNotSent(content: Data) throws {
        try write(content, "/etc/icon.png")
        #expect(tree.catalog().icon("/etc/icon.png") == nil)
    }

    @Test func aHugePictureAndALargeFileAreNotSent() throws {
        try write(png(60_000, 60_000), "/usr/share/pixmaps/huge.png")
        try write(png(count: AppIconFile.sizeLimit + 1), "/usr/share/pixmaps/large.png")
        try write(png(count: AppIconFile.sizeLimit), "/usr/share/pixmaps/fits.png")
        #expect(tree.catalog().icon("huge") == nil)
        #expect(tree.catalog().icon("large") == nil)
        #expect(tree.catalog().icon("fits") != nil)
    }

    @Test(arguments: ["", "../../etc/passwd", "a/b", "\u{0}"])
    func aNameThatIsNoIconsNameFindsNothing(name: String) throws {
        try write(png(), "/usr/share/icons/hicolor/64x64/a/b.png")
        #expect(tree.catalog().icon(name) == nil)
    }

    @Test func aDrawingIsSentOnlyIfItBelongsToRoot() throws {
        try write(Data("<svg></svg>".utf8), "/usr/share/pixmaps/drawing.svg")
        let isRoot = getuid() == 0
        #expect((tree.catalog().icon("drawing")?.format == .svg) == isRoot)
        guard isRoot else { return }
        #expect(chown(tree.root + "/usr/share/pixmaps/drawing.svg", 1_000, 1_000) == 0)
        #expect(tree.catalog().icon("drawing") == nil)
    }
}
