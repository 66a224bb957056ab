import Glibc

/// An app's icon as a picture that another device can show.
public struct AppIconFile: Sendable, Equatable {
    public enum Format: String, Sendable {
        case png = "image/png"
        case svg = "image/svg+xml"
    }

    public let format: Format
    /// At most `AppIconFile.sizeLimit`.
    public let bytes: [UInt8]

    /// In bytes. Icons of 64 pixels have 2 to 10 kB.
    public static let sizeLimit = 24 * 1_024
    /// Width and height in pixels. A few kilobytes of PNG can describe a picture that fills a phone's memory.
    static let longestSide: UInt32 = 512
}

extension AppCatalog {
    /// The icon of a name in the theme that every app installs its icon for (hicolor, of the freedesktop.org icon theme
    /// specification), or of an absolute path. Blocks while it reads files.
    ///
    /// A user's own desktop entry can name any file. So the file has to be readable by everybody and to be a picture; an
    /// SVG, which can take long to draw, has to belong to root.
    ///
    /// - Returns: nil where there is no such icon that can be sent.
    public func icon(_ name: String) -> AppIconFile? {
        let files = HostFiles(root: environment.root)
        for path in candidates(for: name) {
            guard let found = files.regularFile(path), found.status.isReadableByAll,
                let bytes = try? files.read(found.path, limit: AppIconFile.sizeLimit)
            else { continue }
            if Self.isPNG(bytes) { return AppIconFile(format: .png, bytes: bytes) }
            if found.path.hasSuffix(".svg"), found.status.isOwnedByRoot, Self.isSVG(bytes) {
                return AppIconFile(format: .svg, bytes: bytes)
            }
        }
        return nil
    }

    /// In the order in which they are tried: the shown size, larger ones, then SVG.
    private func candidates(for name: String) -> [String] {
        if name.hasPrefix("/") { return [name] }
        guard !name.isEmpty, !name.contains("/") else { return [] }
        // Entries may write a file's name instead of an icon's.
        let stem =
            [".png", ".svg", ".xpm"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
        let places = ApplicationDirectories(environment).directories.map { HostFiles.directory(of: $0.path) }
        let sizes = ["64x64", "48x48", "96x96", "128x128", "256x256", "32x32"]
        return sizes.flatMap { size in places.map { "\($0)/icons/hicolor/\(size)/apps/\(stem).png" } }
            + places.map { "\($0)/icons/hicolor/scalable/apps/\(stem).svg" }
            + places.flatMap { ["\($0)/pixmaps/\(stem).png", "\($0)/pixmaps/\(stem).svg"] }
    }

    /// By its signature and its header's size (W3C PNG, 5.2 and 11.2.2).
    static func isPNG(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 33, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            bytes[12..<16].elementsEqual("IHDR".utf8)
        else { return false }
        func number(at offset: Int) -> UInt32 {
            bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        let sides = 1...AppIconFile.longestSide
        return sides ~= number(at: 16) && sides ~= number(at: 20)
    }

    private static func isSVG(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.contains("<svg") && text.contains("</svg>")
    }
}
