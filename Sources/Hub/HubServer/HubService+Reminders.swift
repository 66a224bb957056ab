import Foundation
import HubAPI
import HubStore

extension HubService {
    func setReminders(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PushRemindersRequest.self)
        try Check.reminders(message.reminders, at: time.seconds())
        let device = try request.knownDevice()
        try await store.setReminders(message, device: device.id, household: device.household, at: time.seconds())
        reminders.wake()
        return .done
    }
}

extension Check {
    /// One in the past is allowed: the device's clock may be behind.
    /// - Parameter time: seconds since 1970.
    static func reminders(_ reminders: [PushReminder], at time: Int64) throws {
        guard reminders.count <= PushRemindersRequest.maximumCount else {
            throw HubError(.badRequest, "A list has at most \(PushRemindersRequest.maximumCount) reminders.")
        }
        guard Set(reminders.map(\.at)).count == reminders.count else {
            throw HubError(.badRequest, "Each reminder of a list has another time.")
        }
        let last = UInt64(clamping: time) + PushReminder.maximumSecondsAhead
        for reminder in reminders {
            guard reminder.at <= last else {
                let days = PushReminder.maximumSecondsAhead / 86_400
                throw HubError(.badRequest, "A reminder is at most \(days) days ahead.")
            }
            try bytes(reminder.content, PushReminder.contentBytes, "A reminder's content")
        }
    }
}
