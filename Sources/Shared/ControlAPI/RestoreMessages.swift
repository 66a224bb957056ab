/// `POST /v1/household/restore`: brings back what devices that no longer belong to the household replaced or removed.
public struct RestoreRequest: Codable, Sendable {
    /// The owner's passcode: it opens the vault's keys.
    public var passcode: String
    /// Seconds since 1970: what such a device did since then is undone.
    public var before: Double
    /// One of them, by its name, its id or the first digits of it; nil for all.
    public var device: String?
    /// Only reports what would be restored.
    public var isTrial: Bool
    public init(passcode: String, before: Double, device: String? = nil, isTrial: Bool) {
        self.passcode = passcode
        self.before = before
        self.device = device
        self.isTrial = isTrial
    }
}

/// What was restored, or would be.
public struct RestoreReport: Codable, Equatable, Sendable {
    /// In the order in which they were first replaced or removed; at most `maximumItems` of each outcome.
    public var items: [RestoredItem] = []
    /// All of them, also those beyond `maximumItems`.
    public var restored = 0
    public var copied = 0
    public var left = 0

    public static let maximumItems = 5_000

    public init() {}

    public mutating func add(_ item: RestoredItem) {
        let before: Int
        switch item.outcome {
        case .restored: (before, restored) = (restored, restored + 1)
        case .copied: (before, copied) = (copied, copied + 1)
        case .left: (before, left) = (left, left + 1)
        }
        if before < Self.maximumItems { items.append(item) }
    }
}

/// A note, moment, photo, file, comment or date that a device replaced or removed.
public struct RestoredItem: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable {
        case note, moment, photo, file, intruder, remark, date
    }

    /// What is there without the restore.
    public enum State: String, Codable, Sendable {
        case changed, removed
    }

    public enum Outcome: String, Codable, Sendable {
        /// The earlier version takes the place of what is there.
        case restored
        /// What is there stays, because a device that belongs wrote it; the earlier version is added beside it.
        case copied
        /// What is there stays, and `reason` is why.
        case left
    }

    public var kind: Kind
    public var id: String
    /// As it was; at most 200 Unicode scalars.
    public var title: String
    public var state: State
    /// The id of the device that replaced or removed it first.
    public var device: String
    /// Its name; the first digits of its id where the name is not known any more.
    public var deviceName: String
    /// When that arrived at this computer, in seconds since 1970.
    public var time: Double
    public var outcome: Outcome
    /// A sentence, where it is left as it is.
    public var reason: String?
    public init(
        kind: Kind, id: String, title: String, state: State, device: String, deviceName: String, time: Double,
        outcome: Outcome, reason: String? = nil
    ) {
        self.kind = kind
        self.id = id
        self.title = title
        self.state = state
        self.device = device
        self.deviceName = deviceName
        self.time = time
        self.outcome = outcome
        self.reason = reason
    }
}
