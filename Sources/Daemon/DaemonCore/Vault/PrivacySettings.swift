import Foundation

/// The owner's settings for the vault and the camera.
struct PrivacySettings: Codable, Hashable, Sendable {
    static let documentName = "privacy"
    static let allowedIdleSeconds = 60...3_600
    static let allowedFailures = 0...10
    static let allowedAlertDays = 7...365

    /// The vault locks itself after this long without a use.
    var vaultIdleSeconds = 600
    /// The number of wrong passcodes in a row from which on a photo is taken; 0: never.
    var photographsFromFailure = 2
    /// "auto" for the first camera, or FORMAT:INPUT as ffmpeg names it.
    var camera = "auto"
    /// How long hub and phones keep alerts, and this computer intruder photos.
    var alertDays = 30

    init() {}

    /// A field that an earlier version did not write has its default. A number out of range, as in a backup or a
    /// damaged state, is clamped.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let (idle, failures) = (Self.allowedIdleSeconds, Self.allowedFailures)
        vaultIdleSeconds = idle.nearest(
            to: try container.decodeIfPresent(Int.self, forKey: .vaultIdleSeconds) ?? vaultIdleSeconds)
        photographsFromFailure = failures.nearest(
            to: try container.decodeIfPresent(Int.self, forKey: .photographsFromFailure) ?? photographsFromFailure)
        camera = try container.decodeIfPresent(String.self, forKey: .camera) ?? camera
        alertDays = Self.allowedAlertDays.nearest(
            to: try container.decodeIfPresent(Int.self, forKey: .alertDays) ?? alertDays)
    }
}

extension ClosedRange {
    func nearest(to bound: Bound) -> Bound { Swift.min(Swift.max(bound, lowerBound), upperBound) }
}
