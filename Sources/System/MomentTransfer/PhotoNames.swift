import Foundation

/// Names photos by the time when they were taken; photos of the same second are numbered.
public struct PhotoNames {
    private var used: Set<String> = []

    /// Where it isn't the type's second word.
    private static let endings = [
        "image/jpeg": "jpg", "video/quicktime": "mov", "audio/mp4": "m4a", "audio/mpeg": "mp3",
    ]

    public init() {}

    /// - Parameter type: a media type.
    public mutating func next(_ time: MomentTime, _ type: String) -> String {
        let stamp = time.local.replacingOccurrences(of: "T", with: "_").replacingOccurrences(of: ":", with: "-")
        let ending = Self.endings[type] ?? type.split(separator: "/").last.map(String.init) ?? "bin"
        var (name, number) = ("\(stamp).\(ending)", 1)
        while !used.insert(name).inserted {
            number += 1
            name = "\(stamp)-\(number).\(ending)"
        }
        return name
    }
}
