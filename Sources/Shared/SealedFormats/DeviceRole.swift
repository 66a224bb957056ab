public import HubAPI

/// What a device of a household is.
public enum DeviceRole: UInt8, CaseIterable, Sendable {
    /// Admits and revokes.
    case computer = 1
    /// A phone, or a browser.
    case companion = 2
    /// A companion that also admits and revokes, as in a household that a phone founded.
    case administrator = 3

    /// Whether the device may admit and revoke.
    public var administers: Bool { self != .companion }
    /// Whether the device is a phone or a browser.
    public var isCompanion: Bool { self != .computer }
}

// The same role, as formats and as messages have it.
extension HubDeviceRole {
    public init(_ role: DeviceRole) {
        self =
            switch role {
            case .computer: .computer
            case .companion: .companion
            case .administrator: .administrator
            }
    }

    public var device: DeviceRole {
        switch self {
        case .computer: .computer
        case .companion: .companion
        case .administrator: .administrator
        }
    }
}
