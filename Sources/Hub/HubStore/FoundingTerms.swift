public import Foundation
public import HubAPI

/// What entitles a device to found a household.
public struct FoundingTerms: Equatable, Sendable {
    /// What is used up by it.
    public enum Invitation: Equatable, Sendable {
        /// The operator's. `expires` is in seconds since 1970; the store remembers its use for a day longer.
        case start(id: HubID, expires: Int64)
        /// An unused invitation of a household at this hub, with SHA-256 of its proof. It can still be joined afterwards.
        case household(id: HubID, proofHash: Data)
    }

    public var invitation: Invitation?
    /// False for a shared vault, which a member of another household creates.
    public var isMain: Bool
    /// The most households that are not shared vaults. Those that exist stay.
    public var maximumMain: Int?
    /// The days for which the household keeps events; nil: 30.
    public var eventDays: Int?
    /// Seconds since 1970.
    public var time: Int64

    public init(
        invitation: Invitation? = nil, isMain: Bool = true, maximumMain: Int? = nil, eventDays: Int? = nil,
        time: Int64 = 0
    ) {
        self.invitation = invitation
        self.isMain = isMain
        self.maximumMain = maximumMain
        self.eventDays = eventDays
        self.time = time
    }
}

extension HubStore {
    /// Founds a household without an invitation.
    public func foundHousehold(_ request: NewHouseholdRequest) async throws -> Bool {
        try await foundHousehold(request, FoundingTerms())
    }
}

extension StoredInvitation {
    /// - Throws: `gone` if it has expired or was withdrawn, a device joined by it, or a household was founded with it.
    package func requireFounding(isWithdrawn: Bool, hasFounded: Bool, at time: Int64) throws {
        if isWithdrawn || expires <= time || join != nil { throw HubError.invitationIsOver }
        if hasFounded { throw HubError.invitationHasFounded }
    }
}
