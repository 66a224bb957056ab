import Foundation
import TestSupport
import Testing

@testable import SealedFormats

struct StartInvitationTests {
    struct Vector: Decodable {
        let name: String
        let text: String
        let token: String
        let id: ItemID?
        let expires: UInt64?
        let error: SealedFormatsError.Code?
    }

    @Test func startLinksAreReadAndAuthenticated() throws {
        let vectors = try Vectors.load("start_invitation.json", as: SealedVectors<Vector, Vector>.self)
        #expect(vectors.opens.count == 3 && vectors.refused.count == 12)
        for vector in vectors.opens {
            let start = try StartInvitation(text: vector.text)
            #expect(start.isAuthentic(token: vector.token), "\(vector.name)")
            #expect(start.id == vector.id && start.expires == vector.expires && start.text == vector.text)
            let again = StartInvitation(id: start.id, expires: start.expires, token: vector.token)
            #expect(again.text == vector.text)
        }
        for vector in vectors.refused {
            let error = try refusal {
                guard try StartInvitation(text: vector.text).isAuthentic(token: vector.token) else {
                    throw SealedFormatsError(.damaged, "not authentic")
                }
            }
            #expect(error == vector.error, "\(vector.name)")
        }
    }

    @Test func noFlippedBitIsAuthentic() throws {
        let token = "the registration token"
        let start = StartInvitation(expires: 1_800_000_000, token: token)
        #expect(start.isAuthentic(token: token) && !start.isAuthentic(token: token + "s"))
        #expect(start.link(address: "https://hub.example") == "https://hub.example/#start=" + start.text)
        #expect(start.text.utf8.count == 76)
        #expect(StartInvitation.text(ofLink: start.link(address: "https://hub.example")) == start.text)
        #expect(StartInvitation.text(ofLink: token) == nil)
        let bytes = try #require(Data(base64Encoded: start.text.replacing("-", with: "+").replacing("_", with: "/")))
        for bit in 8..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let text = changed.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            #expect(try !StartInvitation(text: text).isAuthentic(token: token), "bit \(bit)")
        }
    }
}
