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
            let since = time.wallClock() - Double(query.days) * 86_400
            let user = try shownUser(to: request.peer, all: query.all, reach)
            var statistics = try await activity.statistics(since: since, user: user)
            for index in statistics.indices {
                guard let id = AppID(rawValue: statistics[index].app) else { continue }
                statistics[index].name = await apps.name(of: id)
            }
            return StatisticsReport(
                days: query.days, apps: statistics,
                byDay: try await activity.statisticsByDay(since: since, user: user))
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

    /// - Returns: whose events are shown; nil for everybody's.
    private func shownUser(to peer: ControlPeer, all: Bool, _ reachesEverybody: Bool) throws -> UInt32? {
        if all, !reachesEverybody {
            throw ControlError(
                .sessionNeeded, "Events of other users are shown with the owner's passcode. Open a session first.")
        }
        return reachesEverybody ? nil : peer.user
    }
}
