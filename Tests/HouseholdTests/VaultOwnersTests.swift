import Foundation
import Household
import SealedFormats
import Testing

/// Which keys of vaults a companion accepts of which computer.
@Suite struct VaultOwnersTests {
    private struct Vector: Decodable {
        struct Step: Decodable {
            var comment: String
            var members: [String]
            var giver: String
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

    @Test func ofEachVectorTheRightKeysAreAccepted() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Vectors/vault_owners.json").standardizedFileURL
        let vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: file))
        var (owners, ring) = (VaultOwners(), KeyRing([]))
        for step in vector.steps {
            let giver = try #require(ItemID(step.giver))
            let members = Set(try step.members.map { try #require(ItemID($0)) })
            for key in step.keys {
                let digits = Array(key.key)
                var bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
                    UInt8(String(digits[$0...$0 + 1]), radix: 16)
                }
                let entry = KeyRing.Entry(
                    kind: try #require(KeyRing.Kind(rawValue: key.kind)), vault: try #require(ItemID(key.vault)),
                    epoch: key.epoch, key: SecretBytes(wiping: &bytes))
                let accepted = owners.accept(KeyRing([entry]), from: giver, known: ring, members: members)
                #expect(accepted.entries.count == (key.accepted ? 1 : 0), "\(step.comment): \(key.kind), \(key.epoch)")
                ring = KeyRing(ring.entries + accepted.entries)
            }
        }
    }
}
