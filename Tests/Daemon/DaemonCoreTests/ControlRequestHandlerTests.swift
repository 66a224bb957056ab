import ControlAPI
import Foundation
import Policy
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore

extension World {
    /// Handles one request, and returns the JSON of the reply.
    @discardableResult
    func call(
        _ route: ControlRoute, _ parameter: String? = nil, query: [String: String] = [:], by peer: ControlPeer = alice,
        token: String? = nil, body: (any Encodable & Sendable)? = nil
    ) async throws -> [UInt8] {
        let bytes = try body.map { try [UInt8](JSONEncoder().encode($0)) } ?? []
        return try await control.respond(
            to: ControlRequest(
                route: route, peer: peer, parameter: parameter, query: query, token: token, body: bytes))
    }

    func call<Reply: Decodable>(
        _ route: ControlRoute, as reply: Reply.Type, _ parameter: String? = nil, query: [String: String] = [:],
        by peer: ControlPeer = alice, token: String? = nil, body: (any Encodable & Sendable)? = nil
    ) async throws -> Reply {
        let bytes = try await call(route, parameter, query: query, by: peer, token: token, body: body)
        return try JSONDecoder().decode(Reply.self, from: Data(bytes))
    }

    func session(_ peer: ControlPeer = alice) async throws -> String {
        try await call(
            .openSession, as: SessionReport.self, by: peer, body: PasscodeRequest(passcode: "right")
        ).token
    }
}

/// Which peer may make which request.
@Suite struct ControlRequestHandlerTests {
    /// A well-formed request of each route.
    private static let bodies: [ControlRoute: (parameter: String?, body: any Encodable & Sendable)] = [
        .addApp: (nil, AddAppRequest(app: "notes")),
        .removeApp: ("firefox", DoneReport()),
        .changeApp: ("firefox", ChangeAppRequest(onGrantEnd: "freeze")),
        .setCategory: ("games", SetCategoryRequest(apps: ["firefox"])),
        .removeCategory: ("games", DoneReport()),
        .setMonitoring: (nil, MonitoringRequest(isOn: false)),
        .changeSettings: (nil, ChangeSettingsRequest(promptTimeoutSeconds: 60)),
    ]

    static let managing: [ControlRoute] = [
        .addApp, .removeApp, .changeApp, .setCategory, .removeCategory, .setMonitoring, .changeSettings,
    ]

    /// Requests about hub and devices; they need the same authority.
    static let ofDevices: [ControlRoute] = [
        .connectHub, .disconnectHub, .joinHub, .endJoining, .sendVaultKeys, .makePairing, .pairing, .confirmPairing,
        .endPairing, .renameDevice, .revokeDevice, .restoreChanges,
    ]

    /// Answered without a session: they only read, lock, or contain a passcode.
    static let open: [ControlRoute] = [
        .status, .setUp, .openSession, .endSession, .listApps, .listInstalled, .lock, .unlock, .listCategories,
        .changePasscode, .settings, .log, .statistics, .waitingPrompts, .registerDesktop, .answerPrompt,
        .cancelPrompt, .reportIdle,
        .vault, .openVault, .closeVault, .exportBackup, .importBackup, .makeRecovery, .testRecovery, .useRecovery,
        .reset, .stop,
    ]

    /// Answered for users who entered the owner's passcode before.
    static let ofPasscodeUsers: [ControlRoute] = [.hubStatus, .joining, .listDevices]

    /// About all users: requires a session, root or the daemon's own user; see `HistoryTests`.
    static let ofEverybody: [ControlRoute] = [.verifyLog]

    static let ofTheVault = ControlRoute.allCases.filter { $0.authority == .vault }

    @Test func everyRouteIsInOneAuthorityGroup() {
        let all =
            Self.managing + Self.ofDevices + Self.open + Self.ofPasscodeUsers + Self.ofEverybody
            + Self.ofTheVault
            + [.prompts, .session]
        #expect(Set(all) == Set(ControlRoute.allCases))
        #expect(all.count == Set(all).count)
        #expect(Set(Self.bodies.keys) == Set(Self.managing))
    }

    @Test func everyRouteWithoutEventsIsAnsweredOnce() async throws {
        // Building the table requires exactly one handler for each route.
        let answered = try await World().control.table.answers.keys
        #expect(Set(answered) == Set(ControlRoute.allCases.filter { !$0.answersEvents }))
    }

    @Test func requestsForTheVaultAreRefusedUnparsedWhileItIsLocked() async throws {
        let world = try await World()
        for route in Self.ofTheVault {
            let request = ControlRequest(route: route, peer: alice, parameter: "x", body: Array("{".utf8))
            #expect(await refusal { _ = try await world.control.respond(to: request) } == .vaultLocked, "\(route)")
        }
    }

    @Test(arguments: managing) func managingNeedsASessionOfTheSameUser(_ route: ControlRoute) async throws {
        let world = try await World()
        let (parameter, body) = try #require(Self.bodies[route])
        let before = await world.apps.policy
        let bobs = try await world.session(bob)
        let old = try await world.session()
        _ = try await world.call(.endSession, token: old)
        for token in [nil, "", "x", bobs, old, String(repeating: "0", count: 64)] {
            #expect(
                await refusal { try await world.call(route, parameter, token: token, body: body) } == .sessionNeeded)
        }
        #expect(await world.apps.policy == before)
        let token = try await world.session()
        if route == .removeCategory {
            _ = try await world.call(.setCategory, "games", token: token, body: SetCategoryRequest())
        }
        _ = try await world.call(route, parameter, token: token, body: body)
    }

    @Test(arguments: managing + ofDevices) func aManagingRequestWithoutASessionIsRefusedUnparsed(_ route: ControlRoute)
        async throws
    {
        let world = try await World()
        let request = ControlRequest(route: route, peer: alice, parameter: "x", body: Array("{".utf8))
        #expect(await refusal { _ = try await world.control.respond(to: request) } == .sessionNeeded)
    }

    @Test(arguments: ofPasscodeUsers) func hubAndDevicesRequireAPreviouslyEnteredPasscode(
        _ route: ControlRoute
    ) async throws {
        let world = try await World()
        #expect(await refusal { try await world.call(route, by: bob) } == .sessionNeeded)
        /// Some of these requests fail because this computer is connected to no hub.
        func isShown(to peer: ControlPeer) async -> Bool {
            let code = await refusal { try await world.call(route, by: peer) }
            return code == nil || code == .hub || code == .noSuchItem
        }
        #expect(await isShown(to: ControlPeer(user: 0, process: 1)))
        let token = try await world.session(bob)
        _ = try await world.call(.endSession, by: bob, token: token)
        #expect(await isShown(to: bob))
    }

    @Test func rootNeedsASessionOnceAPasscodeIsSet() async throws {
        let world = try await World()
        let root = ControlPeer(user: 0, process: 1)
        #expect(
            await refusal { try await world.call(.addApp, by: root, body: AddAppRequest(app: "notes")) }
                == .sessionNeeded)
        #expect(
            await refusal { try await world.call(.setUp, by: root, body: SetUpRequest(passcode: "another one")) }
                == .alreadySetUp)
    }

    @Test func onlyRootAndTheDaemonsOwnUserMaySetUp() async throws {
        let world = try await World(passcodes: nil, cost: { .minimum })
        let body = SetUpRequest(passcode: "a good passcode")
        #expect(await refusal { try await world.call(.setUp, body: body) } == .notYours)
        #expect(try await world.call(.status, as: StatusReport.self).isSetUp == false)
        _ = try await world.call(.setUp, by: ControlPeer(user: 500, process: 1), body: body)
        #expect(try await world.call(.status, as: StatusReport.self).isSetUp)
    }

    @Test func aWrongPasscodeOpensNoSessionAndIsCounted() async throws {
        let world = try await World()
        for failures in 1...4 {
            #expect(
                await refusal { try await world.call(.openSession, body: PasscodeRequest(passcode: "wrong")) }
                    == .wrongPasscode)
            #expect(try await world.call(.status, as: StatusReport.self).lockout.failures == failures)
        }
        #expect(
            await refusal { try await world.call(.openSession, body: PasscodeRequest(passcode: "wrong")) } == .lockedOut
        )
        #expect(
            await refusal { try await world.call(.openSession, body: PasscodeRequest(passcode: "right")) } == .lockedOut
        )
    }

    @Test func anAppsOwnPasscodeUnlocksThatAppAndOpensNoSession() async throws {
        let world = try await World(passcodes: World.passcodes(apps: [firefox: "foxy"]))
        #expect(
            await refusal { try await world.call(.openSession, body: PasscodeRequest(passcode: "foxy")) }
                == .wrongPasscode)
        for (apps, all) in [(["calculator"], false), (["firefox", "calculator"], false), ([], true)] {
            let body = UnlockRequest(apps: apps, all: all, grant: GrantRequest(.untilLocked), passcode: "foxy")
            let code = await refusal { try await world.call(.unlock, body: body) }
            #expect(code == .wrongPasscode)
        }
        let body = UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "foxy")
        #expect(try await world.call(.unlock, as: AppsChanged.self, body: body).apps.map(\.state) == [.unlocked])
    }

    @Test func lockingOwnUnlockedAppsNeedsNoSessionAddingAppsDoes() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: bob.user)
        let changed = try await world.call(.lock, as: AppsChanged.self, by: bob, body: LockRequest(apps: ["firefox"]))
        #expect(changed.apps.map(\.state) == [.locked])
        #expect(
            await refusal { try await world.call(.lock, by: bob, body: LockRequest(apps: ["notes"])) } == .sessionNeeded
        )
        #expect(
            await refusal { try await world.call(.lock, by: bob, body: LockRequest(apps: ["misspelt"])) } == .noSuchApp)
        #expect(await world.apps.reports().count == 2)
        let token = try await world.session()
        let added = try await world.call(
            .lock, as: AppsChanged.self, token: token, body: LockRequest(apps: ["notes"]))
        #expect(added.apps.map(\.id) == ["notes"])
    }

    @Test func omittedFieldsHaveDefaultsAndUnknownOnesAreIgnored() async throws {
        let world = try await World()
        for (route, body) in [
            (ControlRoute.unlock, #"{"apps":["firefox"],"grant":{"kind":"until_locked"},"passcode":"right"}"#),
            (.lock, #"{"all":true}"#), (.unlock, #"{"all":true,"grant":{"kind":"duration"},"passcode":"right"}"#),
            (.lock, #"{"apps":["firefox"],"unknown":[1]}"#),
        ] {
            _ = try await world.control.respond(
                to: ControlRequest(route: route, peer: alice, body: Array(body.utf8)))
        }
        #expect(await world.state(of: firefox) == .locked)
        #expect(await world.apps.report(calculator).unlockedForSeconds == 300)
    }

    @Test func aChangedPasscodeEndsEverySession() async throws {
        let world = try await World(cost: { .minimum })
        let (first, second) = (try await world.session(), try await world.session(bob))
        _ = try await world.call(.changePasscode, body: ChangePasscodeRequest(old: "right", new: "a better one"))
        for (token, peer) in [(first, alice), (second, bob)] {
            #expect(
                await refusal {
                    try await world.call(.addApp, by: peer, token: token, body: AddAppRequest(app: "notes"))
                } == .sessionNeeded)
        }
    }

    @Test func aRequestWithOneRefusedPartChangesNothing() async throws {
        let world = try await World(cost: { .minimum })
        let token = try await world.session()
        for body in [
            ChangeAppRequest(schedule: "block sometimes", passcode: "firefox only"),
            ChangeAppRequest(passcode: "firefox only", onGrantEnd: "explode"),
            ChangeAppRequest(schedule: "block daily 10:00-11:00", passcode: "abc", onGrantEnd: "close"),
        ] {
            let code = await refusal { try await world.call(.changeApp, "firefox", token: token, body: body) }
            #expect(code == .badRequest || code == .passcodeTooShort)
        }
        let report = await world.apps.report(firefox)
        #expect(!report.hasOwnPasscode && report.schedule == nil && report.onGrantEnd == "keep")
        let body = UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "firefox only")
        #expect(await refusal { try await world.call(.unlock, body: body) } == .wrongPasscode)
    }

    @Test func anAppThatIsAddedAgainHasNoEarlierPasscode() async throws {
        let world = try await World(passcodes: World.passcodes(apps: [firefox: "foxy"]))
        let token = try await world.session()
        _ = try await world.call(.removeApp, "firefox", token: token)
        _ = try await world.call(.addApp, token: token, body: AddAppRequest(app: "firefox"))
        let body = UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "foxy")
        #expect(await refusal { try await world.call(.unlock, body: body) } == .wrongPasscode)
    }

    // MARK: Bad input

    @Test(arguments: ["", "{", "[]", "null", "{}", #"{"passcode":7}"#, #"{"passcode":null}"#, "\u{0}"])
    func anInvalidBodyIsABadRequest(_ body: String) async throws {
        let world = try await World()
        let request = ControlRequest(route: .openSession, peer: alice, body: Array(body.utf8))
        #expect(await refusal { _ = try await world.control.respond(to: request) } == .badRequest)
        #expect(await world.passcodes.lockoutState().failures == 0)
    }

    @Test(arguments: ["../../etc/passwd", "..", "/", "", "a\u{0}b", "\u{202e}evil", String(repeating: "x", count: 300)])
    func anInvalidAppIDIsNotFound(_ id: String) async throws {
        let world = try await World()
        let token = try await world.session()
        for route in [ControlRoute.removeApp, .changeApp] {
            #expect(
                await refusal { try await world.call(route, id, token: token, body: ChangeAppRequest()) } == .noSuchApp)
        }
        let code = await refusal {
            try await world.call(.setCategory, "games", token: token, body: SetCategoryRequest(apps: [id]))
        }
        #expect(code == .noSuchApp)
        #expect(await world.apps.categories().isEmpty)
    }

    @Test func valuesOutOfRangeAreRefusedAndNothingChanges() async throws {
        let world = try await World()
        let token = try await world.session()
        let before = await world.apps.policy
        let grants: [GrantRequest] = [
            GrantRequest(.duration, seconds: 29), GrantRequest(.duration, seconds: 3_601),
            GrantRequest(.duration, seconds: -1), GrantRequest(.duration, seconds: .max),
        ]
        for grant in grants {
            let body = UnlockRequest(apps: ["firefox"], grant: grant, passcode: "right")
            #expect(await refusal { try await world.call(.unlock, body: body) } == .badRequest)
        }
        for seconds in [59, 86_401, -1, Int.max] {
            let body = MonitoringRequest(isOn: false, forSeconds: seconds)
            #expect(await refusal { try await world.call(.setMonitoring, token: token, body: body) } == .badRequest)
        }
        for body in [
            ChangeSettingsRequest(promptTimeoutSeconds: 4), ChangeSettingsRequest(promptTimeoutSeconds: Int.max),
            ChangeSettingsRequest(phoneTimeoutSeconds: 29), ChangeSettingsRequest(phoneTimeoutSeconds: 601),
            ChangeSettingsRequest(defaultGrantSeconds: 0),
            ChangeSettingsRequest(promptTimeoutSeconds: 60, defaultGrantSeconds: 4_000),
        ] {
            #expect(await refusal { try await world.call(.changeSettings, token: token, body: body) } == .badRequest)
        }
        for query in [["limit": "0"], ["limit": "1001"], ["limit": "x"], ["after": "-1"], ["after": "1e3"]] {
            #expect(await refusal { try await world.call(.log, query: query) } == .badRequest)
        }
        #expect(await refusal { try await world.call(.statistics, query: ["days": "0"]) } == .badRequest)
        #expect(await refusal { try await world.call(.lock, body: LockRequest()) } == .badRequest)
        #expect(
            await refusal { try await world.call(.setCategory, " padded ", token: token, body: SetCategoryRequest()) }
                == .badRequest)
        #expect(await refusal { try await world.call(.removeCategory, "none", token: token) } == .noSuchCategory)
        #expect(await world.apps.policy == before)
        #expect(await world.passcodes.lockoutState().failures == 0)
    }

    // MARK: Status

    @Test func aDegradedStateIsReported() async throws {
        let world = try await World(isGatePresent: false)
        world.signals.send(.session("1", SessionIdleness(user: alice.user, isKnown: true, idle: nil)))
        await eventually { try await world.status().source == .logind }
        var status = try await world.call(.status, as: StatusReport.self)
        #expect(status.protection == .gateAway)
        #expect(status.degraded.count == 2, "no gate, and no prompter: \(status.degraded)")
        world.gate.hold()
        world.gate.connect(.weak(reason: "the kernel refused."))
        for _ in await world.apps.policy.apps {
            await eventually { world.gate.waitingChanges == 1 }
            world.gate.applyOne()
        }
        await eventually { world.gate.actions.last == "synchronised" && world.gate.waitingChanges == 1 }
        status = try await world.call(.status, as: StatusReport.self)
        #expect(status.protection == .gateAway, "the gate denies launches until it has the whole list")
        world.gate.release()
        await eventually { await world.apps.gateState != .away }
        _ = try await world.join()
        status = try await world.call(.status, as: StatusReport.self)
        #expect(status.protection == .weak && status.prompterConnected)
        #expect(status.degraded == ["Weak mode: the kernel refused."])
        let token = try await world.session()
        _ = try await world.call(.setMonitoring, token: token, body: MonitoringRequest(isOn: false))
        status = try await world.call(.status, as: StatusReport.self)
        #expect(status.degraded.count == 2 && status.degraded[1].contains("Monitoring is off"))
        #expect(status.lockedApps == 0 && status.unlockedApps == 2)
    }

    @Test func noPasscodeReachesTheLog() async throws {
        let world = try await World(cost: { .minimum })
        _ = await refusal { try await world.call(.openSession, body: PasscodeRequest(passcode: "wr0ng-secret")) }
        _ = try await world.call(.changePasscode, body: ChangePasscodeRequest(old: "right", new: "n3w-secret"))
        let log = try await world.call(.log, as: EventList.self)
        #expect(log.events.contains { $0.kind == "passcode_wrong" })
        #expect(log.events.contains { $0.kind == "passcode_changed" })
        let text = String(describing: log)
        for secret in ["wr0ng-secret", "n3w-secret", "right"] { #expect(!text.contains("\"\(secret)\"")) }
        #expect(!text.contains("secret"))
    }

    @Test func statisticsCountByAppAndCarryItsName() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        _ = await refusal {
            try await world.call(
                .answerPrompt, prompt.prompt,
                body: PromptAnswerRequest(passcode: "wrong", grant: GrantRequest(.thisLaunch)))
        }
        _ = try await world.call(
            .answerPrompt, prompt.prompt,
            body: PromptAnswerRequest(passcode: "right", grant: GrantRequest(.thisLaunch)))
        await eventually {
            try await world.call(.statistics, as: StatisticsReport.self).apps == [
                AppStatistics(
                    app: "firefox", name: "Firefox", asked: 1, allowed: 1, denied: 0, wrongPasscodes: 1, unlocks: 1)
            ]
        }
    }
}
