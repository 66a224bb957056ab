public import Foundation

/// `PUT /v1/push/reminders`: pushes to the token's own device at later times. They replace those of the same list.
public struct PushRemindersRequest: Codable, Sendable {
    /// An id that the device chooses, another one for each PIN. A list beyond `maximumLists` replaces the one that was
    /// set first.
    public var list: HubID
    /// At most `maximumCount`, each at another time; none removes the list.
    public var reminders: [PushReminder]
    public init(list: HubID, reminders: [PushReminder]) {
        self.list = list
        self.reminders = reminders
    }

    public static let maximumCount = 64
    /// Of a device.
    public static let maximumLists = 4
}

public struct PushReminder: Codable, Equatable, Sendable {
    /// Seconds since 1970, at most `maximumSecondsAhead` from now.
    public var at: UInt64
    /// What the device sealed for itself, `contentBytes` long.
    public var content: Data
    public init(at: UInt64, content: Data) {
        self.at = at
        self.content = content
    }

    public static let maximumSecondsAhead: UInt64 = 400 * 86_400
    public static let contentBytes = 44
    /// How long after its time a reminder is sent and delivered, in seconds.
    public static let lifetime: Int64 = 12 * 3_600
}

/// What the push service gets for a reminder, encrypted as any message.
public struct ReminderMessage: Codable, Sendable {
    public var reminder: Data
    public init(reminder: Data) { self.reminder = reminder }
}
