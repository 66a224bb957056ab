import ControlAPI
import Foundation
import Household
import HubAPI
import Policy
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

let firefox = app("firefox")
let calculator = app("calculator")
let alice = ControlPeer(user: 1_000, process: 1_000_500)
let bob = ControlPeer(user: 1_001, process: 1_001_500)

func app(_ id: String) -> AppID {
    guard let id = AppID(rawValue: id) else { fatalError("\(id) is no app id") }
    return id
}

func resolved(_ id: AppID, executables: [String]? = nil) -> ResolvedApp {
    ResolvedApp(
        id: id, name: id.rawValue.capitalized, icon: id.rawValue, kind: "desktop", user: 1_000,
        executables: executables ?? ["/usr/bin/\(id)"], privateDirectories: [], sharedWith: [])
}

/// The daemon's services over a real database, with clocks, gate and catalog that the test controls.
///
/// The owner's passcode is "right", with the older SHA-256 verifier, which is compared quickly. It is not upgraded,
/// because the cost can't be measured, unless a test sets one.
final class World: Sendable {
    /// Of this computer.
    let key: DeviceSigningKey
    let name: String
    let directory: TemporaryDirectory
    let database: StateDatabase
    let documents: BreakableStore
    let time: TestTime
    let authorizer: LaunchAuthorizer
    let gate: RecordingGate
    let resolver: TestResolver
    let daemon: Daemon
    let camera = TestCamera()
    let blobs: BlobDirectory
    let signals = TestSignals()
    /// Whether the keys beside the database were erased.
    let erasure = Erasure()
    private let running: Task<Void, any Error>

    var control: ControlRequestHandler { daemon.control }
    var sealed: SealedServices { daemon.control.sealed }
    var apps: AppService { daemon.control.apps }
    var launches: LaunchService { daemon.control.launches }
    var passcodes: PasscodeService { daemon.control.passcodes }

    static let noCost: @Sendable () throws -> ScryptCost = { throw CancellationError() }

    /// - Parameters:
    ///   - hasVault: opening it takes the real key derivation, seconds in a debug build.
    ///   - listed: apps that are on the list from the start.
    ///   - hubAt: replaces `hub` if there are several.
    ///   - after: the world whose state on disk, clocks and resolver are used: the daemon is started again.
    init(
        listed: [AppID] = [firefox, calculator], passcodes: PasscodeService.Stored? = World.passcodes(),
        isGatePresent: Bool = true, hasVault: Bool = false,
        vault: Result<[String: [UInt8]], any Error> = World.vault,
        cost: @escaping @Sendable () throws -> ScryptCost = World.noCost,
        hub: @escaping @Sendable (SecretBytes?) throws -> any HubConnection = { _ in
            throw HubUnreachable(.offline, "No hub.")
        },
        hubAt: (@Sendable (HubSettings, SecretBytes?) throws -> any HubConnection)? = nil,
        key: DeviceSigningKey = StateDatabase.testKey, name: String = "den-computer",
        after: World? = nil
    ) async throws {
        let key = after?.key ?? key
        self.key = key
        self.name = after?.name ?? name
        directory = try after?.directory ?? TemporaryDirectory()
        database = try StateDatabase(path: directory.path("state.sqlite"), signingKey: key)
        documents = BreakableStore(database)
        blobs = try BlobDirectory(path: directory.path("blobs"))
        time = after?.time ?? TestTime()
        authorizer = LaunchAuthorizer(time: time)
        gate = RecordingGate(authorizer: authorizer)
        resolver =
            after?.resolver ?? TestResolver([firefox, calculator, app("notes"), app("mail")].map { resolved($0) })
        if after == nil {
            var stored = AppService.Stored()
            for id in listed {
                stored.policy.add(LockedApp(id: id, name: id.rawValue.capitalized))
                stored.resolved[id] = resolved(id)
            }
            try await database.save([UInt8](JSONEncoder().encode(stored)), as: AppService.documentName)
            if let passcodes {
                try await database.save([UInt8](JSONEncoder().encode(passcodes)), as: PasscodeService.documentName)
            }
            if hasVault { try await database.write(StateChange(documents: vault.get().mapValues { $0 })) }
        }
        let (camera, erasure, signals, clock) = (camera, erasure, signals, time)
        let daemon = Daemon(
            ports: Daemon.Ports(
                records: documents, blobs: blobs, activity: database, resolver: resolver, gate: gate, time: time,
                directory: TestDirectory(), sessionSignals: signals,
                household: HouseholdPorts(
                    store: database, signingKey: key,
                    connect: { try hubAt?($0, $1) ?? hub($1) }),
                vaultReplicas: VaultDirectory(path: directory.path("vaults")), makeCamera: { _ in camera },
                inspectHost: { World.findings },
                eraseKeys: {
                    erasure.time.withLock { $0 = clock.now().elapsed }
                    erasure.happened.withLock { $0 = true }
                }, restart: {},
                stop: { erasure.isStopped.withLock { $0 = true } }),
            authorizer: authorizer, machineSecret: World.machineSecret, device: database.device, deviceName: self.name,
            cost: cost,
            version: "test", ownUser: 500,
            ownProcess: 42)
        self.daemon = daemon
        try await daemon.load()
        running = Task { try await daemon.run() }
        if isGatePresent {
            gate.connect()
            await eventually { [daemon] in await daemon.control.apps.gateState != .away }
            gate.forgetActions()
        }
    }

    deinit {
        running.cancel()
        closeDatabase()
    }

    /// Stops the daemon as a kill does.
    func end() { running.cancel() }

    /// Stops the daemon, and waits for its tasks.
    func ended() async {
        running.cancel()
        _ = await running.result
        closeDatabase()
    }

    /// Services reference each other and stay in memory after the test: some hundred databases would use up all
    /// descriptors.
    private func closeDatabase() { database.closeFile() }

    /// A vault with the passcode "right", made once: its key derivation is the real one.
    static let vault = newVault()

    static func newVault() -> Result<[String: [UInt8]], any Error> {
        Result {
            try NewVault(passcode: SecretBytes(utf8: "right"), cost: .minimum, machineSecret: machineSecret).documents
        }
    }

    static let findings = [
        IntegrityFinding(id: "secure-boot", title: "Secure boot", state: .warning, sentence: "Secure boot is off.")
    ]

    static let machineSecret = SecretBytes.random(count: PasscodeVerifier.machineSecretLength)

    static func passcodes(owner: String = "right", apps: [AppID: String] = [:]) -> PasscodeService.Stored {
        PasscodeService.Stored(owner: verifier(owner), apps: apps.mapValues { verifier($0) })
    }

    static func verifier(_ passcode: String) -> String {
        let salt = [UInt8](repeating: 7, count: 16)
        let digest = KeyDerivation.sha256(SecretBytes(utf8: passcode), salt: salt).withUnsafeBytes { Array($0) }
        do {
            return try PasscodeVerifier(olderSHA256: digest, salt: salt).text
        } catch {
            fatalError("\(error)")
        }
    }

    func launch(
        _ number: UInt64, _ app: AppID = firefox, user: UInt32 = alice.user, loginUser: UInt32? = nil,
        parent: Int32 = 1_000_001, deniedAtOnce: Bool = false
    ) -> HeldLaunch {
        HeldLaunch(
            connection: 1, number: number, app: app, process: Int32(truncatingIfNeeded: 1_000_100 + number),
            parent: parent, user: user, loginUser: loginUser, deniedAtOnce: deniedAtOnce, path: "/usr/bin/\(app)")
    }

    /// Opens the stream of a prompter and reads it until `ready`.
    func join(_ peer: ControlPeer = alice, connection: UInt64 = 1) async throws -> PromptReader {
        var reader = PromptReader(try await control.prompterJoined(peer, connection: connection))
        _ = await reader.next()
        return reader
    }

    /// Starts an app that causes a prompt, and returns the prompt.
    func prompt(for launch: HeldLaunch, _ prompter: inout PromptReader) async throws -> PromptReport {
        gate.launch(launch)
        while let event = await prompter.next() {
            if case .ask(let report) = event, report.process == launch.process { return report }
        }
        throw CancellationError()
    }

    /// Includes those that the daemon has queued and not written yet.
    func events(_ kind: ActivityEvent.Kind) async throws -> [EventReport] {
        await apps.log.drain()
        return try await database.events(after: 0, limit: 100_000, app: nil).filter { $0.kind == kind.rawValue }
    }

    func state(of app: AppID) async -> AppReport.State { await apps.report(app).state }

    /// Enters a wrong passcode, and waits for the photo that it causes: another task takes it.
    func enterWrongPasscode(user: UInt32 = bob.user, isPhotographed: Bool) async throws {
        func outcomes() async throws -> Int {
            try await events(.intruderPhotographed).count + events(.intruderMissed).count
        }
        let before = try await outcomes()
        let code = await refusal {
            try await passcodes.verify(SecretBytes(utf8: "wrong"), app: firefox, user: user)
        }
        #expect(code == .wrongPasscode)
        if isPhotographed { await eventually("a photo is taken, or missed") { try await outcomes() > before } }
        // The task takes no other photo before it has ended.
        await sealed.intruders.finish()
    }
}

/// Whether the keys beside the database were erased, and whether the daemon was to stop.
final class Erasure: Sendable {
    let happened = Mutex(false)
    /// The time since boot.
    let time = Mutex<Duration?>(nil)
    let isStopped = Mutex(false)
}

/// The events of a prompter, in order.
struct PromptReader {
    private var events: AsyncStream<PromptEvent>.AsyncIterator

    init(_ events: AsyncStream<PromptEvent>) { self.events = events.makeAsyncIterator() }

    mutating func next() async -> PromptEvent? { await events.next(isolation: nil) }

    /// The next event that settles a launch.
    mutating func settled() async -> PromptOutcome? {
        while let event = await next() {
            if case .settled(_, let outcome) = event { return outcome }
        }
        return nil
    }
}

/// The code of the refusal that `body` throws; nil if it throws nothing or another error.
func refusal(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async -> ControlError.Code?
{
    do {
        try await body()
        return nil
    } catch let error as ControlError {
        return error.code
    } catch {
        return ControlError(lower: error)?.code
    }
}

extension PasscodeService {
    /// alice's state, which she shares with other users until she enters the owner's passcode.
    func lockoutState() -> LockoutState { lockoutState(of: alice.user) }
}
