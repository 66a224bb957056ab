/// The end of a grant that closes the running instances of its app.
public struct Closing: Hashable, Sendable {
    public let app: AppID
    /// Whose grant ends; see `Grant.user`.
    public let user: UInt32?
    /// When its users are warned, in time since boot.
    public let warnsAt: Duration
    /// When the instances are closed, in time since boot.
    public let closesAt: Duration
}

// Apps that are closed when their grant ends.
extension LockPolicy {
    /// The longest time between the warning and the end.
    private static let longestNotice: Duration = .seconds(60)

    /// The grants of a duration that still hold and whose end closes instances. The warning is a minute before the end;
    /// of a short grant a fifth of its time.
    public func closings(at moment: Moment) -> [Closing] {
        apps.values.filter { $0.onGrantEnd == .close }.compactMap { app in
            guard let grant = validGrant(for: app.id, at: moment), case .duration = grant.scope,
                let closesAt = grant.expiresAt
            else { return nil }
            let notice = min(Self.longestNotice, (closesAt - grant.startedAt) / 5)
            return Closing(app: app.id, user: grant.user, warnsAt: closesAt - notice, closesAt: closesAt)
        }.sorted { $0.app < $1.app }
    }

    /// Adds time to what is left of an app's grant, an hour in all at most. The grant keeps its user.
    ///
    /// - Returns: the new grant; nil, with nothing changed, where the app has no grant of a duration that still holds.
    /// - Throws: `PolicyError` with code `noSuchApp` or `invalidDuration`.
    @discardableResult
    public mutating func extend(
        _ id: AppID, by duration: Duration, at moment: Moment
    ) throws(PolicyError) -> Grant? {
        _ = try listed(id)
        try GrantScope.duration(duration).validate()
        guard let grant = validGrant(for: id, at: moment), case .duration = grant.scope,
            let left = grant.remaining(at: moment)
        else { return nil }
        let total = min(left + duration, GrantScope.allowedDurations.upperBound)
        return try unlock([id], scope: .duration(total), at: moment, user: grant.user).first
    }
}
