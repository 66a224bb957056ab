import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct Reminders {
        private struct Phone {
            let household: SampleHousehold
            let id: HubID

            /// Admitted to a new household, with a push subscription.
            static func subscribed(in store: any HubStore) async throws -> Phone {
                let household = try await SampleHousehold.founded(in: store)
                let device = try await household.admitted(to: store).device
                try await store.setPushSubscription(.sample, device: device, household: household.id)
                return Phone(household: household, id: device)
            }

            /// Sets reminders at these times.
            func remind(
                _ times: [Int64], list: HubID = .random(), at time: Int64 = now, in store: any HubStore
            ) async throws {
                let reminders = times.map { PushReminder(at: UInt64($0), content: .random(44)) }
                try await store.setReminders(
                    PushRemindersRequest(list: list, reminders: reminders), device: id, household: household.id,
                    at: time)
            }
        }

        private func taken(_ store: any HubStore, at time: Int64 = now + 1_000) async throws -> [Int64] {
            try await store.takeReminders(dueAt: time, limit: 100).map(\.at)
        }

        @Test(arguments: StoreKind.allCases)
        func remindersAreReturnedOnceWhenTheyAreDue(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let phone = try await Phone.subscribed(in: store)
            #expect(try await store.nextReminder() == nil)
            let content = Data.random(44)
            let later = PushReminder(at: UInt64(now + 20), content: .random(44))
            try await store.setReminders(
                PushRemindersRequest(
                    list: .random(), reminders: [later, PushReminder(at: UInt64(now + 10), content: content)]),
                device: phone.id, household: phone.household.id, at: now)
            #expect(try await store.nextReminder() == now + 10)
            #expect(try await taken(store, at: now + 9) == [])
            #expect(
                try await store.takeReminders(dueAt: now + 10, limit: 5) == [
                    DueReminder(
                        household: phone.household.id, at: now + 10, content: content,
                        subscription: StoredPushSubscription(device: phone.id, subscription: .sample))
                ])
            #expect(try await taken(store, at: now + 10) == [])
            #expect(try await store.nextReminder() == now + 20)
            try await phone.remind([now + 40, now + 30], in: store)
            #expect(try await store.takeReminders(dueAt: now + 99, limit: 2).map(\.at) == [now + 20, now + 30])
            #expect(try await taken(store) == [now + 40])
        }

        @Test(arguments: StoreKind.allCases)
        func aListReplacesOnlyItself(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (phone, other) = (try await Phone.subscribed(in: store), try await Phone.subscribed(in: store))
            let (list, second) = (HubID.random(), HubID.random())
            try await phone.remind([now + 1, now + 2], list: list, in: store)
            try await phone.remind([now + 3], list: second, in: store)
            try await other.remind([now + 4], list: list, in: store)
            try await phone.remind([now + 2, now + 5], list: list, in: store)
            #expect(try await taken(store) == [now + 2, now + 3, now + 4, now + 5])
            try await phone.remind([now + 1], list: list, in: store)
            try await phone.remind([now + 3], list: second, in: store)
            try await phone.remind([], list: list, in: store)
            #expect(try await taken(store) == [now + 3])
        }

        @Test(arguments: StoreKind.allCases)
        func aListBeyondTheLimitReplacesTheOneThatWasSetFirst(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let phone = try await Phone.subscribed(in: store)
            let lists = (0..<PushRemindersRequest.maximumLists).map { _ in HubID.random() }
            for (index, list) in lists.enumerated() {
                try await phone.remind([now + Int64(index)], list: list, at: now + Int64(index), in: store)
            }
            // Set again, the first one is the newest; a list without reminders takes no place.
            try await phone.remind([now], list: lists[0], at: now + 10, in: store)
            try await phone.remind([], at: now + 11, in: store)
            try await phone.remind([now + 50], at: now + 12, in: store)
            #expect(try await taken(store) == [now, now + 2, now + 3, now + 50])
        }

        @Test(arguments: StoreKind.allCases)
        func remindersEndWithTheirSubscriptionDeviceAndHousehold(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let endings: [(Phone) async throws -> Void] = [
                { try await store.setPushSubscription(nil, device: $0.id, household: $0.household.id) },
                {
                    try await store.removePushSubscription(
                        endpoint: PushSubscriptionRequest.sample.endpoint, device: $0.id, household: $0.household.id)
                },
                { try await store.removeDevice($0.id, of: $0.household.id) },
                {
                    let number = try await store.household($0.household.id).rosterNumber + 1
                    try await store.appendToRoster(
                        RosterAppendRequest(number: number, entry: .random(300), change: .revoke(device: $0.id)),
                        of: $0.household.id)
                },
                { try await store.removeHousehold($0.household.id) },
            ]
            for (index, end) in endings.enumerated() {
                let phone = try await Phone.subscribed(in: store)
                try await phone.remind([now + 1], in: store)
                try await end(phone)
                #expect(try await store.nextReminder() == nil, "\(index)")
                #expect(try await taken(store) == [], "\(index)")
            }
            // A renewed subscription keeps them, and gets them.
            let phone = try await Phone.subscribed(in: store)
            try await phone.remind([now + 1], in: store)
            var newer = PushSubscriptionRequest.sample
            newer.endpoint += "/newer"
            newer.fallback = PushFallback(title: "T", body: "B", navigate: "https://hub.example/")
            try await store.setPushSubscription(newer, device: phone.id, household: phone.household.id)
            let stored = StoredPushSubscription(device: phone.id, subscription: newer)
            #expect(try await store.pushSubscriptions(of: phone.household.id) == [stored])
            #expect(try await store.takeReminders(dueAt: now + 1, limit: 1).map(\.subscription) == [stored])
        }

        @Test(arguments: StoreKind.allCases)
        func remindersNeedTheDevicesOwnSubscription(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (phone, other) = (try await Phone.subscribed(in: store), try await Phone.subscribed(in: store))
            let request = PushRemindersRequest(
                list: .random(), reminders: [PushReminder(at: UInt64(now), content: .random(44))])
            await expectRefusal(.notFound) {
                try await store.setReminders(request, device: phone.id, household: other.household.id, at: now)
            }
            await expectRefusal(.conflict) {
                try await store.setReminders(
                    request, device: phone.household.computer, household: phone.household.id, at: now)
            }
            #expect(try await store.nextReminder() == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func hubsThatTakeAtOnceGetEachReminderOnce(_ kind: StoreKind) async throws {
            let open = try await kind.instances(2)
            let phone = try await Phone.subscribed(in: open[0].store)
            let times = (0..<60).map { now + Int64($0) }
            try await phone.remind(times, in: open[0].store)
            let found = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for index in 0..<20 {
                    let store = open[index % open.count].store
                    group.addTask { try await store.takeReminders(dueAt: now + 100, limit: 4).map(\.at) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(try await (found + taken(open[0].store)).sorted() == times)
        }
    }
}
