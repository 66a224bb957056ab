/// What happens to a running instance of an app when its grant ends.
public enum InstanceAction: String, Sendable, Codable, CaseIterable {
    /// It runs on; only a new start asks again.
    case keep
    /// It is stopped, and continues when the app is unlocked.
    case freeze
    /// It is closed after a warning.
    case close
}

/// An app on the list of those that AppLocker guards.
public struct LockedApp: Hashable, Sendable, Codable, Identifiable {
    public let id: AppID
    /// The name to show to people.
    public var name: String
    /// Wins over the schedules of the app's categories.
    public var schedule: Schedule?
    /// The app has a passcode of its own besides the owner's.
    public var hasOwnPasscode: Bool
    public var onGrantEnd: InstanceAction

    public init(
        id: AppID, name: String, schedule: Schedule? = nil, hasOwnPasscode: Bool = false,
        onGrantEnd: InstanceAction = .keep
    ) {
        self.id = id
        self.name = name
        self.schedule = schedule
        self.hasOwnPasscode = hasOwnPasscode
        self.onGrantEnd = onGrantEnd
    }
}

/// A named group of apps, with a schedule for those of them that have none of their own.
///
/// Being in a category does not lock an app: it has to be on the list. Of an app's categories any one that locks it
/// locks it, and a category without a schedule always does.
public struct Category: Hashable, Sendable, Codable {
    public let name: String
    public var apps: Set<AppID>
    public var schedule: Schedule?

    /// The longest name, in characters.
    public static let maximumNameLength = 64

    /// - Throws: `PolicyError` with code `invalidCategory` for a name that is empty, longer than 64 characters, padded
    ///   with spaces or holds control characters.
    public init(name: String, apps: Set<AppID> = [], schedule: Schedule? = nil) throws(PolicyError) {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            ![.control, .lineSeparator, .paragraphSeparator, .format].contains(scalar.properties.generalCategory)
        }
        guard isPlain, 1...Self.maximumNameLength ~= name.count, name.first?.isWhitespace == false,
            name.last?.isWhitespace == false
        else {
            throw PolicyError(
                .invalidCategory,
                "A category's name is 1 to \(Self.maximumNameLength) characters long, without control characters or "
                    + "spaces at its ends.")
        }
        self.name = name
        self.apps = apps
        self.schedule = schedule
    }

    private enum CodingKeys: CodingKey { case name, apps, schedule }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            name: container.decode(String.self, forKey: .name),
            apps: Set(container.decode([AppID].self, forKey: .apps)),
            schedule: container.decodeIfPresent(Schedule.self, forKey: .schedule))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(apps.sorted(), forKey: .apps)
        try container.encodeIfPresent(schedule, forKey: .schedule)
    }
}
