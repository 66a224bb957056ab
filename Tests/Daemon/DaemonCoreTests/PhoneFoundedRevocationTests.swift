import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore
@testable import Sync

/// What a computer does after a revocation, in a household that a phone founded.
@Suite struct PhoneFoundedRevocationTests {
    private let right = SecretBytes(utf8: "right")

    @Test func aRecoverySheetStaysOneIfItsPhoneIsRevokedAndIfItIsRenamed() async throws {
        let founded = try await PhoneFounded.joined()
        let own = founded.world.key.publicKey.id
        try await founded.household.sendVaultKeys(right, user: alice.user)
        let second = try await founded.secondPhone()
        let sheet = try await founded.admittedWithoutKeys()
        try await founded.follows()
        let lost = await second.device
        try await second.write(DeviceName(name: "Recovery sheet", sheet: true), of: sheet)
        await eventually("the computer has the name") {
            try await founded.world.database.householdRecord(.devices, sheet)?.author == lost
        }
        let sentences = try await founded.world.control.devices.revoke(
            String(lost.description.prefix(8)), passcode: right, user: alice.user)
        #expect(sentences.first?.contains("is revoked") == true, "\(sentences)")
        try await founded.hasSent()
        let kept = try await founded.name(of: sheet)
        #expect(kept.body == DeviceName(name: "Recovery sheet", sheet: true) && kept.author == own)
        // A name that another phone signed is accepted as it is.
        let phone = await founded.phone.device.item
        let unchanged = try await founded.name(of: phone)
        #expect(unchanged.body == DeviceName(name: "Anna's phone") && unchanged.author == phone)

        _ = try await founded.household.rename("Recovery sheet", to: "Sheet in the safe", user: alice.user)
        try await founded.hasSent()
        let renamed = try await founded.name(of: sheet)
        #expect(renamed.body == DeviceName(name: "Sheet in the safe", sheet: true) && renamed.author == own)
    }
}
