import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Keys sealed by an independent implementation.
struct KeyVectorTests {
    struct Slots: Decodable {
        let name: String
        let passcode: String
        let mixedSecret: String?
        let block: String
        let kek: String
        let rootKey: String
        let slot: Int
    }

    struct RefusedSlots: Decodable {
        let name: String
        let block: String
        let kek: String?
        let error: SealedFormatsError.Code
    }

    @Test func keySlotBlocksOpenWithTheirPasscode() throws {
        let vectors = try Vectors.load("slots.json", as: SealedVectors<Slots, RefusedSlots>.self).opens
        #expect(vectors.count == 5)
        var stretchedOnce: Set<KeySlots.Derivation> = []
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
        for vector in vectors {
            let block = try KeySlots(bytes: bytes(hex: vector.block))
            #expect(block.bytes == bytes(hex: vector.block))
            // Stretching takes seconds without optimisation: once for each derivation, or every vector with APPLOCKER_LONG.
            let isStretched = stretchedOnce.insert(block.derivation).inserted || isLong
            let stretched =
                isStretched
                ? try block.stretch(
                    SecretBytes(utf8: vector.passcode), mixedSecret: vector.mixedSecret.map { secret(hex: $0) })
                : KeySlots.StretchedKey(key: secret(hex: vector.kek))
            #expect(hex(stretched.key) == vector.kek, "\(vector.name)")
            let opened = try #require(block.open(stretched), "\(vector.name)")
            #expect(hex(opened.rootKey) == vector.rootKey)
            #expect(opened.slot == vector.slot)
        }
    }

    @Test func keySlotBlocksAreRefusedWithTheirCode() throws {
        let vectors = try Vectors.load("slots.json", as: SealedVectors<Slots, RefusedSlots>.self).refused
        #expect(vectors.count == 25)
        for vector in vectors {
            let code = try refusal {
                let block = try KeySlots(bytes: bytes(hex: vector.block))
                guard let kek = vector.kek else { return }
                guard block.open(KeySlots.StretchedKey(key: secret(hex: kek))) != nil else {
                    throw SealedFormatsError(.wrongKey, "no slot")
                }
            }
            #expect(code == vector.error, "\(vector.name)")
        }
    }

    struct Ring: Decodable {
        struct Entry: Decodable, Equatable {
            let kind: UInt8
            let vault: ItemID
            let epoch: UInt32
            let key: String
        }
        let name: String
        let rootKey: String
        let ring: String
        let entries: [Entry]?
        let error: SealedFormatsError.Code?
    }

    @Test func validKeyRingsOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("ring.json", as: SealedVectors<Ring, Ring>.self)
        #expect(vectors.opens.count == 3 && vectors.refused.count == 23)
        for vector in vectors.opens {
            let ring = try KeyRing(sealed: bytes(hex: vector.ring), rootKey: secret(hex: vector.rootKey))
            let entries = ring.entries.map {
                Ring.Entry(kind: $0.kind.rawValue, vault: $0.vault, epoch: $0.epoch, key: hex($0.key))
            }
            #expect(entries == vector.entries, "\(vector.name)")
        }
        for vector in vectors.refused {
            let code = try refusal {
                try KeyRing(sealed: bytes(hex: vector.ring), rootKey: secret(hex: vector.rootKey))
            }
            #expect(code == vector.error, "\(vector.name)")
        }
    }

    struct Code: Decodable {
        let name: String
        let secret: String
        let printed: String
        let passcode: String
        let typed: [String]
    }

    struct RefusedCode: Decodable {
        let name: String
        let typed: String
        let error: SealedFormatsError.Code
    }

    @Test func recoveryCodesAreReadInEveryTypedForm() throws {
        let vectors = try Vectors.load("recovery.json", as: SealedVectors<Code, RefusedCode>.self)
        #expect(vectors.opens.count == 6 && vectors.refused.count == 12)
        for vector in vectors.opens {
            for typed in vector.typed {
                let code = try RecoveryCode(text: SecretBytes(utf8: typed))
                #expect(code.passcode == SecretBytes(utf8: vector.passcode), "\(vector.name)")
                #expect(code.printed == SecretBytes(utf8: vector.printed), "\(vector.name)")
            }
        }
        for vector in vectors.refused {
            let code = try refusal { try RecoveryCode(text: SecretBytes(utf8: vector.typed)) }
            #expect(code == vector.error, "\(vector.name)")
        }
    }
}
