import ControlAPI
import Foundation

/// The owner's settings for presence and desktops.
struct PresenceSettings: Codable, Hashable, Sendable {
    static let documentName = "presence"
    private static let allowedInactivity = 60...3_600
    private static let allowedClipboard = 5...300

    /// 60 to 3,600.
    var inactivitySeconds = 600
    /// 5 to 300.
    var clipboardSeconds = 30
    var locksOnCapture = false

    init() {}

    /// A field that an earlier version did not write has its default. A number out of range is clamped.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        inactivitySeconds = Self.allowedInactivity.nearest(
            to: try container.decodeIfPresent(Int.self, forKey: .inactivitySeconds) ?? inactivitySeconds)
        clipboardSeconds = Self.allowedClipboard.nearest(
            to: try container.decodeIfPresent(Int.self, forKey: .clipboardSeconds) ?? clipboardSeconds)
        locksOnCapture = try container.decodeIfPresent(Bool.self, forKey: .locksOnCapture) ?? locksOnCapture
    }

    /// - Throws: `ControlError` with `badRequest`.
    func validate() throws(ControlError) {
        guard Self.allowedInactivity.contains(inactivitySeconds) else {
            throw ControlError(
                .badRequest, "Inactivity can lock everything after 60 to 3600 seconds, not \(inactivitySeconds).")
        }
        guard Self.allowedClipboard.contains(clipboardSeconds) else {
            throw ControlError(
                .badRequest, "The clipboard can be cleared after 5 to 300 seconds, not \(clipboardSeconds).")
        }
    }
}
