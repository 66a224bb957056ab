import ControlAPI
import Foundation
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore

/// Setting up with what an earlier AppLocker stored of its passcode.
struct EarlierVerifierTests {
    private static let owner = ControlPeer(user: 500, process: 1)

    /// An earlier verifier and its passcode, made by the vectors' program in Python.
    struct Pinned: Decodable, CustomTestStringConvertible {
        struct File: Decodable { var accepted: [Pinned] }

        var name: String
        var passcode: String
        var text: String

        var testDescription: String { name }

        static let all = Result {
            try Vectors.load("passcode_verifiers.json", as: File.self).accepted.filter { $0.name.hasPrefix("older") }
        }

        var earlier: EarlierVerifier {
            let fields = text.split(separator: ":")
            func base64(_ hexadecimal: Substring) -> String {
                Data(bytes(hex: String(hexadecimal))).base64EncodedString()
            }
            return EarlierVerifier(
                kind: String(fields[2]), salt: base64(fields[fields.count - 2]),
                digest: base64(fields[fields.count - 1]))
        }
    }

    private static func world(_ pinned: Pinned) async throws -> World {
        let world = try await World(passcodes: nil, cost: { .minimum })
        _ = try await world.call(.setUp, by: owner, body: SetUpRequest(earlierVerifier: pinned.earlier))
        return world
    }

    private static func storedOwner(_ world: World) async throws -> String? {
        let bytes = try #require(try await world.database.document(PasscodeService.documentName))
        return try JSONDecoder().decode(PasscodeService.Stored.self, from: Data(bytes)).owner
    }

    @Test(arguments: try Pinned.all.get())
    func theFirstRightPasscodeCreatesTheVaultAndReplacesTheVerifier(_ pinned: Pinned) async throws {
        let world = try await Self.world(pinned)
        #expect(try await world.call(.status, as: StatusReport.self).isSetUp)
        #expect(try await Self.storedOwner(world) == pinned.text)
        #expect(try await world.database.document(VaultDocuments.slots) == nil)

        let body = PasscodeRequest(passcode: pinned.passcode)
        _ = try await world.call(.openVault, body: body)
        #expect(try await Self.storedOwner(world)?.hasPrefix("applocker-passcode:1:scrypt:") == true)
        let slots = try #require(try await world.database.document(VaultDocuments.slots))

        let next = try await World(isGatePresent: false, after: world)
        _ = try await next.call(.openVault, body: body)
        #expect(try await next.database.document(VaultDocuments.slots) == slots, "the vault is created once")
    }

    @Test func wrongPasscodesAreCountedUntilTheLockoutAndCreateNoVault() async throws {
        let pinned = try #require(try Pinned.all.get().last)
        let world = try await Self.world(pinned)
        let wrong = PasscodeRequest(passcode: "not it")
        for _ in 0..<4 { #expect(await refusal { try await world.call(.openVault, body: wrong) } == .wrongPasscode) }
        #expect(await refusal { try await world.call(.openVault, body: wrong) } == .lockedOut)
        let right = PasscodeRequest(passcode: pinned.passcode)
        #expect(await refusal { try await world.call(.openVault, body: right) } == .lockedOut)
        #expect(try await world.database.document(VaultDocuments.slots) == nil)
        #expect(try await Self.storedOwner(world) == pinned.text)

        world.time.advance(by: .seconds(61))
        _ = try await world.call(.openVault, body: right)
        #expect(try await world.database.document(VaultDocuments.slots) != nil)
    }

    /// The power was cut after the verifier was replaced.
    @Test func theNextRightPasscodeCreatesTheVaultThatWasNotWritten() async throws {
        let replaced = try PasscodeVerifier(
            passcode: SecretBytes(utf8: "the old one"), cost: .minimum, machineSecret: World.machineSecret)
        let world = try await World(passcodes: PasscodeService.Stored(owner: replaced.text), cost: { .minimum })
        #expect(try await world.database.document(VaultDocuments.slots) == nil)
        _ = try await world.call(.openVault, body: PasscodeRequest(passcode: "the old one"))
        #expect(try await world.database.document(VaultDocuments.slots) != nil)
        #expect(try await Self.storedOwner(world) == replaced.text)
    }

    @Test func aRecoveryCodeWithoutAVaultIsRefusedAndNotCounted() async throws {
        let world = try await Self.world(try #require(try Pinned.all.get().last))
        let (code, user) = (RecoveryCode(), alice.user)
        for _ in 0..<5 {
            #expect(await refusal { try await world.passcodes.testRecoveryCode(code, user: user) } == .notSetUp)
        }
        let new = SecretBytes(utf8: "a fine new one")
        #expect(
            await refusal { _ = try await world.passcodes.useRecoveryCode(code, newPasscode: new, user: user) }
                == .notSetUp)
        #expect(await world.passcodes.lockoutState(of: user).failures == 0)
    }

    @Test func theEarlierPasscodeCanBeChangedBeforeItWasUsedOtherwise() async throws {
        let pinned = try #require(try Pinned.all.get().first)
        let world = try await Self.world(pinned)
        _ = try await world.call(
            .changePasscode, body: ChangePasscodeRequest(old: pinned.passcode, new: "a fine new one"))
        #expect(
            await refusal { try await world.call(.openVault, body: PasscodeRequest(passcode: pinned.passcode)) }
                == .wrongPasscode)
        _ = try await world.call(.openVault, body: PasscodeRequest(passcode: "a fine new one"))
    }

    @Test func aVerifierIsAcceptedOnlyOnceAndFromTheOwner() async throws {
        let pinned = try #require(try Pinned.all.get().last)
        let body = SetUpRequest(earlierVerifier: pinned.earlier)
        let fresh = try await World(passcodes: nil, cost: { .minimum })
        #expect(await refusal { try await fresh.call(.setUp, by: alice, body: body) } == .notYours)
        let world = try await World()
        let before = try await Self.storedOwner(world)
        #expect(await refusal { try await world.call(.setUp, by: Self.owner, body: body) } == .alreadySetUp)
        #expect(try await Self.storedOwner(world) == before)
    }

    @Test(arguments: [
        (EarlierVerifier(kind: "md5", salt: zeros(32), digest: zeros(32)), "has to be \"sha256\" or \"pbkdf2-sha256\""),
        (EarlierVerifier(kind: "sha256", salt: "no", digest: zeros(32)), "have to be Base64"),
        (EarlierVerifier(kind: "sha256", salt: zeros(32), digest: "00 11"), "have to be Base64"),
        (EarlierVerifier(kind: "sha256", salt: zeros(7), digest: zeros(32)), "32 bytes and the salt 7."),
        (EarlierVerifier(kind: "sha256", salt: zeros(65), digest: zeros(32)), "32 bytes and the salt 65."),
        (EarlierVerifier(kind: "sha256", salt: zeros(32), digest: zeros(31)), "31 bytes and the salt 32."),
        (EarlierVerifier(kind: "pbkdf2-sha256", salt: zeros(16), digest: zeros(32)), "32 bytes and the salt 16."),
    ])
    func aDefectiveVerifierIsRefusedWithItsDefectAndSetsNothingUp(
        _ earlier: EarlierVerifier, _ words: String
    ) async throws {
        let world = try await World(passcodes: nil, cost: { .minimum })
        let error = await #expect(throws: ControlError.self) {
            try await world.call(.setUp, by: Self.owner, body: SetUpRequest(earlierVerifier: earlier))
        }
        #expect(error?.code == .badRequest && error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(await world.passcodes.isSetUp == false)
    }

    @Test func settingUpNeedsEitherAPasscodeOrAVerifier() async throws {
        let world = try await World(passcodes: nil, cost: { .minimum })
        var both = SetUpRequest(passcode: "a good passcode")
        both.earlierVerifier = try #require(try Pinned.all.get().last).earlier
        #expect(await refusal { try await world.call(.setUp, by: Self.owner, body: both) } == .badRequest)
        both.passcode = nil
        both.earlierVerifier = nil
        #expect(await refusal { try await world.call(.setUp, by: Self.owner, body: both) } == .badRequest)
        #expect(await world.passcodes.isSetUp == false)
    }
}

private func zeros(_ count: Int) -> String { Data(count: count).base64EncodedString() }
