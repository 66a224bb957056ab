import Foundation
import TestSupport
import Testing

@testable import SealedFormats

struct PairingCodeTests {
    struct Vector: Decodable {
        let name: String
        let typed: String
        let details: String
        let code: String?
        let text: String?
        let invitation: ItemID?
        let secret: String?
        let role: String?
        let household: ItemID?
        let computer: ItemID?
        let error: SealedFormatsError.Code?
    }

    /// So do companions (`Tests/JavaScript/vectors.test.js`).
    @Test func codesAreReadAsTypedAndOpenTheirDetails() throws {
        let vectors = try Vectors.load("pairing_code.json", as: SealedVectors<Vector, Vector>.self)
        for vector in vectors.opens {
            let code = try PairingCode(text: vector.typed)
            #expect(code.text == vector.text && code.id == vector.invitation, "\(vector.name)")
            let details = try #require(Hexadecimal.decode(vector.details))
            let (invitation, isOfVault) = try Invitation.opening(details: details, with: code)
            #expect(!isOfVault && invitation.id == vector.invitation && invitation.household == vector.household)
            #expect(invitation.computer == vector.computer && invitation.proof == code.proof)
        }
        #expect(vectors.refused.count == 14)
        for vector in vectors.refused {
            let code = try refusal {
                try Invitation.opening(
                    details: Hexadecimal.decode(vector.details) ?? [], with: PairingCode(text: vector.typed))
            }
            #expect(code == vector.error, "\(vector.name)")
        }
    }

    @Test func codesAreShownWithTheirCheckDigitsAndNameTheInvitation() throws {
        let vectors = try Vectors.load("pairing_code.json", as: SealedVectors<Vector, Vector>.self)
        #expect(vectors.opens.count == 7)
        let roles: [String: DeviceRole] = ["companion": .companion, "administrator": .administrator]
        for vector in vectors.opens {
            let code = PairingCode(secret: secret(hex: try #require(vector.code)))
            #expect(code.text == vector.text, "\(vector.name)")
            let invitation = Invitation(
                household: try #require(vector.household), computer: try #require(vector.computer),
                role: try #require(vector.role.flatMap { roles[$0] }), code: code)
            #expect(invitation.id == vector.invitation)
            #expect(invitation.secret.withUnsafeBytes { Hexadecimal.encode(Array($0)) } == vector.secret)
            #expect(Hexadecimal.encode(invitation.sealedDetails) == vector.details)
        }
    }

    @Test func twoCodesDiffer() {
        let (one, other) = (PairingCode(), PairingCode())
        #expect(one.text != other.text && one.id != other.id)
        #expect(one.text.wholeMatch(of: /([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}/) != nil)
    }
}
