import ControlAPI
import Policy
import SealedFormats
import Sync

// Requests about the activity log.
extension ControlRequestHandler {
    func addActivityRequests(to table: inout RequestTable) {
        table.answer(\.log) { request in
            let reach = try await reachesEverybody(request.untyped)
            let query = try request.query
            return EventList(
                events: try await activity.events(
                    after: query.after, before: query.before, limit: query.limit, app: query.app,
                    user: try shownUser(to: request.peer, all: query.all, reach)))
        }
        table.answer(\.statistics) { request in
            let reach = try await reachesEverybody(request.untyped)
            let query = try request.query
            let since = beginning(of: query)
            let user = try shownUser(to: request.peer, all: query.all, reach)
            var statistics = try await activity.statistics(since: since ?? 0, user: user)
            for index in statistics.indices {
                guard let id = AppID(rawValue: statistics[index].app) else { continue }
                statistics[index].name = await apps.name(of: id)
            }
            return StatisticsReport(
                since: since, apps: statistics,
                byDay: try await activity.statisticsByDay(since: since ?? 0, user: user))
        }
        table.answer(\.verifyLog) { request in
            guard try await reachesEverybody(request.untyped) else {
                throw ControlError(.sessionNeeded, "Verifying the log needs the owner's passcode.")
            }
            let known = try request.query.head.map { text in
                guard let head = AuditChain.Head(text) else {
                    throw ControlError(.badRequest, "A head is NUMBER:HASH, as `applocker log verify` printed it.")
                }
                return head
            }
            return try await sealed.verifyLog(known)
        }
    }

    /// - Returns: in seconds since 1970; nil: there is no limit.
    private func beginning(of query: StatisticsQuery) -> Double? {
        let now = time.wallClock()
        guard let period = query.period else { return now - Double(query.days) * 86_400 }
        let midnight = now.rounded(.down) - Double(time.now().civil.secondOfDay)
        return period.days.map { midnight - Double($0 - 1) * 86_400 }
    }

    /// - Returns: whose events are shown; nil for everybody's.
    private func shownUser(to peer: ControlPeer, all: Bool, _ reachesEverybody: Bool) throws -> UInt32? {
        if all, !reachesEverybody {
            throw ControlError(
                .sessionNeeded, "Events of other users are shown with the owner's passcode. Open a session first.")
        }
        return reachesEverybody ? nil : peer.user
    }
}
