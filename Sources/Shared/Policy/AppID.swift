/// The name AppLocker knows an app by: its desktop-file id without ".desktop" ("org.gnome.Calculator"), or for a plain
/// executable an id made from its path ("exec:usr-bin-foo").
///
/// An id can end up in a file name, a log line or a terminal, so one that could leave its folder or carry control
/// characters does not exist: every way to make an `AppID`, decoding included, refuses it.
public struct AppID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CodingKeyRepresentable,
    CustomStringConvertible
{
    public let rawValue: String

    /// The longest id, in bytes of UTF-8.
    public static let maximumLength = 255

    /// Nil unless it is 1 to 255 bytes long, does not start with "." and contains no "/", no ".." and no control characters.
    public init?(rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= Self.maximumLength, rawValue.utf8.first != UInt8(ascii: ".")
        else { return nil }
        var previous: Unicode.Scalar?
        for scalar in rawValue.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .format: return nil
            default: break
            }
            if scalar == "/" || (scalar == "." && previous == ".") { return nil }
            previous = scalar
        }
        self.rawValue = rawValue
    }

    public static func < (left: AppID, right: AppID) -> Bool { left.rawValue < right.rawValue }

    public var description: String { rawValue }
}
