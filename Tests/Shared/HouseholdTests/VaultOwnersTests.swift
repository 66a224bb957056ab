import Household
import SealedFormats
import TestSupport
import Testing

/// The vault keys that a companion accepts from each computer.
@Suite struct VaultOwnersTests {
    private struct Vector: Decodable {
        struct Step: Decodable {
            var comment: String
            var members: [String]
            var sender: String
            var keys: [Key]
        }
        struct Key: Decodable {
            var kind: UInt8
            var vault: String
            var epoch: UInt32
            var key: String
            var accepted: Bool
        }
        var steps: [Step]
    }

    @Test func eachVectorsKeysAreAcceptedAsExpected() throws {
        let vector = try Vectors.load("vault_owners.json", as: Vector.self)
        var (owners, ring) = (VaultOwners(), KeyRing([]))
        for step in vector.steps {
            let sender = try #require(ItemID(step.sender))
            let members = Set(try step.members.map { try #require(ItemID($0)) })
            for key in step.keys {
                var plain = bytes(hex: key.key)
                let entry = KeyRing.Entry(
                    kind: try #require(KeyRing.Kind(rawValue: key.kind)), vault: try #require(ItemID(key.vault)),
                    epoch: key.epoch, key: SecretBytes(wiping: &plain))
                let accepted = owners.accept(KeyRing([entry]), from: sender, known: ring, members: members)
                #expect(accepted.entries.count == (key.accepted ? 1 : 0), "\(step.comment): \(key.kind), \(key.epoch)")
                ring = KeyRing(ring.entries + accepted.entries)
            }
        }
    }
}
