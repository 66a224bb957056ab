import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Rosters, signed records and pairing links by an independent implementation.
struct HouseholdVectorTests {
    struct RosterVector: Decodable {
        struct Member: Decodable, Equatable {
            let id: String
            let role: UInt8
            let signingKey: String
            let boxKey: String
        }

        let name: String
        let entries: [String]
        let household: String?
        let head: String?
        let members: [Member]?
        let revoked: [String]?
        let error: SealedFormatsError.Code?

        func read() throws -> Roster { try Roster(entries: entries.map { bytes(hex: $0) }) }
    }

    @Test func validRostersAreReadAndInvalidOnesRefused() throws {
        let vectors = try Vectors.load("roster.json", as: SealedVectors<RosterVector, RosterVector>.self)
        #expect(vectors.opens.count == 7 && vectors.refused.count == 37)
        for vector in vectors.opens {
            let roster = try vector.read()
            #expect(roster.household.description == vector.household, "\(vector.name)")
            #expect(Hexadecimal.encode(roster.head.hash) == vector.head)
            let members = roster.members.map {
                RosterVector.Member(
                    id: $0.id.description, role: $0.role.rawValue, signingKey: Hexadecimal.encode($0.signingKey.bytes),
                    boxKey: Hexadecimal.encode($0.boxKey.bytes))
            }
            #expect(members == vector.members)
            #expect(roster.revoked.map(\.description).sorted() == vector.revoked)
            #expect(roster.entries == vector.entries.map { bytes(hex: $0) })
        }
        for vector in vectors.refused {
            #expect(try refusal { try vector.read() } == vector.error, "\(vector.name)")
        }
    }

    struct SignedRecordVector: Decodable {
        let name: String
        let record: RecordFields
        let epoch: UInt32
        let blobs: [ItemID]
        let sealed: String?
        let publicKey: String
        let author: ItemID
        let signature: String

        func isValid() throws -> Bool {
            RecordSignature.verify(
                bytes(hex: signature), record.name, epoch: epoch, blobs: blobs, sealed: sealed.map { bytes(hex: $0) },
                author: try DevicePublicKey(bytes: bytes(hex: publicKey)))
        }
    }

    @Test func signaturesOfRecordsAreVerifiedOrRefused() throws {
        let vectors = try Vectors.load(
            "signed_record.json", as: SealedVectors<SignedRecordVector, SignedRecordVector>.self)
        #expect(vectors.opens.count == 4 && vectors.refused.count == 12)
        for vector in vectors.opens {
            #expect(try vector.isValid(), "\(vector.name)")
            #expect(try DevicePublicKey(bytes: bytes(hex: vector.publicKey)).id == vector.author)
        }
        for vector in vectors.refused { #expect(try !vector.isValid(), "\(vector.name)") }
    }

    struct EpochKeysVector: Decodable {
        let name: String
        let record: RecordFields
        let epoch: UInt32
        let member: ItemID
        let privateKey: String
        let sealed: String
        let entries: [KeyVectorTests.Ring.Entry]?
        let vault: ItemID?
        /// Of the member in its own household.
        let device: ItemID?
        let owner: ItemID?

        func open() throws -> KeyRing? {
            let keys = try BoxKeyPair(privateKey: secret(hex: privateKey))
            return try EpochKeys.open(
                bytes(hex: sealed), as: record.name, epoch: epoch, for: member, with: keys)
        }
    }

    @Test func keysOfAnEpochAreOpenedOrRefused() throws {
        let vectors = try Vectors.load("epoch_keys.json", as: SealedVectors<EpochKeysVector, EpochKeysVector>.self)
        #expect(vectors.opens.count == 4 && vectors.refused.count == 16)
        for vector in vectors.opens {
            let entries = try vector.open()?.entries.map {
                KeyVectorTests.Ring.Entry(kind: $0.kind.rawValue, vault: $0.vault, epoch: $0.epoch, key: hex($0.key))
            }
            #expect(entries == vector.entries, "\(vector.name)")
            let household = vector.record.name.vault
            #expect(EpochKeys.vault(of: household) == vector.vault)
            let device = try #require(vector.device)
            #expect(EpochKeys.owner(household: household, member: vector.member, device: device) == vector.owner)
        }
        for vector in vectors.refused {
            #expect(throws: SealedFormatsError.self, "\(vector.name)") { try vector.open() }
        }
    }

    struct InvitationVector: Decodable {
        let name: String
        let link: String
        let join: String?
        let hub: String?
        let role: String?
        let household: String?
        let computer: String?
        let invitation: String?
        let proof: String?
        let proofHash: String?
        let signingKey: String?
        let boxKey: String?
        let deviceName: String?
        let words: [String]?
        let error: SealedFormatsError.Code?

        func read() throws -> (invitation: Invitation, hub: String, joining: Invitation.Joining) {
            let (invitation, hub) = try Invitation.reading(link: link)
            return (invitation, hub, try invitation.open(bytes(hex: join ?? "")))
        }
    }

    @Test func pairingHasAWordForEachByte() throws {
        #expect(try Vectors.load("pairing_words.json", as: [String].self) == Invitation.words)
        #expect(Set(Invitation.words).count == 256)
    }

    @Test func pairingLinksAreReadAndJoinsOpened() throws {
        let roles: [String: DeviceRole] = [
            "companion": .companion, "computer": .computer, "administrator": .administrator,
        ]
        let vectors = try Vectors.load("invitation.json", as: SealedVectors<InvitationVector, InvitationVector>.self)
        #expect(vectors.opens.count == 5 && vectors.refused.count == 15)
        for vector in vectors.opens {
            let (invitation, hub, joining) = try vector.read()
            #expect(hub == vector.hub)
            #expect(vector.role.flatMap { roles[$0] } == invitation.role, "\(vector.name)")
            #expect(invitation.household.description == vector.household)
            #expect(invitation.computer.description == vector.computer)
            #expect(invitation.id.description == vector.invitation)
            #expect(Hexadecimal.encode(invitation.proof) == vector.proof)
            #expect(Hexadecimal.encode(invitation.proofHash) == vector.proofHash)
            #expect(Hexadecimal.encode(joining.signingKey.bytes) == vector.signingKey)
            #expect(Hexadecimal.encode(joining.boxKey.bytes) == vector.boxKey)
            #expect(joining.name == vector.deviceName)
            #expect(invitation.words(signingKey: joining.signingKey, boxKey: joining.boxKey) == vector.words)
            #expect(invitation.link(hub: hub) == vector.link)
            #expect(Hexadecimal.encode(invitation.seal(joining)) == vector.join)
        }
        for vector in vectors.refused {
            #expect(try refusal { try vector.read() } == vector.error, "\(vector.name)")
        }
    }
}
