public import Foundation
public import HubAPI

/// A reminder whose time has come, with the subscription of its device.
public struct DueReminder: Equatable, Sendable {
    public var household: HubID
    /// Seconds since 1970.
    public var at: Int64
    public var content: Data
    public var subscription: StoredPushSubscription

    public init(household: HubID, at: Int64, content: Data, subscription: StoredPushSubscription) {
        self.household = household
        self.at = at
        self.content = content
        self.subscription = subscription
    }
}
