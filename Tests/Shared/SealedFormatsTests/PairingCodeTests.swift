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

    /// A computer shows codes; companions read them (`Tests/JavaScript/vectors.test.js`).
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
