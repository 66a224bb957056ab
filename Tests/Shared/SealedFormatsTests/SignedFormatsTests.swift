import Foundation
import TestSupport
import Testing

@testable import SealedFormats

struct PublicKeyBoxTests {
    @Test func bodiesOpenWithThePrivateKey() throws {
        let keys = BoxKeyPair()
        let name = FormatSamples.name(collection: .intruders)
        for size in [0, 1, 252, 253, 5_000, 1 << 20] {
            let body = FormatSamples.bytes(size)
            let box = try PublicKeyBox.seal(body, as: name, to: keys.publicKey)
            #expect(box.count == 78 + Padding.paddedLength(of: size) + 16)
            let again = try BoxKeyPair(privateKey: keys.privateKey)
            let opened = try PublicKeyBox.open(box, as: name, with: again)
            #expect(opened.startIndex == 0)
            #expect(Array(opened) == body)
        }
        let tooLarge = [UInt8](repeating: 0, count: (16 << 20) - 3)
        #expect(try refusal { try PublicKeyBox.seal(tooLarge, as: name, to: keys.publicKey) } == .tooLarge)
    }

    @Test func nameAndPurposeAndRecipientAreAuthenticated() throws {
        let (keys, other) = (BoxKeyPair(), BoxKeyPair())
        let name = FormatSamples.name()
        let box = try PublicKeyBox.seal([1], as: name, to: keys.publicKey)
        #expect(try refusal { try PublicKeyBox.open(box, as: name, with: other) } == .wrongKey)
        for changed in [
            FormatSamples.name(id: name.id), FormatSamples.name(vault: name.vault),
            FormatSamples.name(vault: name.vault, collection: .files, id: name.id),
            FormatSamples.name(vault: name.vault, id: name.id, revision: 2),
        ] {
            #expect(try refusal { try PublicKeyBox.open(box, as: changed, with: keys) } == .damaged)
        }
        let message = try PublicKeyBox.seal([1, 2], purpose: "a", data: [3], to: keys.publicKey)
        #expect(try Array(PublicKeyBox.open(message, purpose: "a", data: [3], with: keys)) == [1, 2])
        #expect(try refusal { try PublicKeyBox.open(message, purpose: "b", data: [3], with: keys) } == .damaged)
        #expect(try refusal { try PublicKeyBox.open(message, purpose: "a", data: [], with: keys) } == .damaged)
    }

    @Test func everyTruncationIsRefused() throws {
        let (keys, name) = (BoxKeyPair(), FormatSamples.name())
        let box = try PublicKeyBox.seal([1], as: name, to: keys.publicKey)
        for length in 0..<box.count {
            let code = try refusal { try PublicKeyBox.open(Array(box[..<length]), as: name, with: keys) }
            #expect(code == (length < 78 ? .malformed : .damaged))
        }
    }

    @Test func invalidCurveKeysAreRefused() throws {
        let order = bytes(hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for scalar in [[], [UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 255, count: 32), [1]] {
            #expect(try refusal { try BoxKeyPair(privateKey: secret(scalar)) } == .malformed)
            #expect(try refusal { try DeviceSigningKey(privateKey: secret(scalar)) } == .malformed)
        }
        let point = BoxKeyPair().publicKey.bytes
        let infinity: [UInt8] = [0]
        for point in [[], infinity, Array(point.dropLast()), point + [0], point.flipped(bit: 100), [5] + point[1...]] {
            #expect(try refusal { try BoxPublicKey(bytes: point) } == .malformed)
            #expect(try refusal { try DevicePublicKey(bytes: point) } == .malformed)
        }
    }
}

struct DeviceSignatureTests {
    @Test func aSignatureIsValidOnlyForItsMessagePurposeAndDevice() throws {
        let (key, other) = (DeviceSigningKey(), DeviceSigningKey())
        let message = FormatSamples.bytes(100)
        let signature = key.signature(of: message, purpose: "audit")
        #expect(signature.count == 64)
        let device = try DevicePublicKey(bytes: key.publicKey.bytes)
        #expect(device.verify(signature, of: message, purpose: "audit"))
        #expect(!device.verify(signature, of: message, purpose: "roster"))
        #expect(!other.publicKey.verify(signature, of: message, purpose: "audit"))
        let again = try DeviceSigningKey(privateKey: key.privateKey)
        #expect(device.verify(again.signature(of: message, purpose: "x"), of: message, purpose: "x"))
        for bit in 0..<64 * 8 {
            #expect(!device.verify(signature.flipped(bit: bit), of: message, purpose: "audit"))
        }
        for bit in 0..<100 * 8 {
            #expect(!device.verify(signature, of: message.flipped(bit: bit), purpose: "audit"))
        }
        for length in 0..<64 { #expect(!device.verify(Array(signature[..<length]), of: message, purpose: "audit")) }
    }
}

struct AuditChainTests {
    static func event(_ index: Int) -> AuditChain.Event {
        AuditChain.Event(
            time: 1_750_000_000 + Double(index) / 3, kind: "denied", app: index.isMultiple(of: 2) ? "firefox" : nil,
            user: 1_000, process: Int32(index), path: "/usr/bin/firefox", reason: nil, sentence: "Event \(index).")
    }

    /// A chain of `count` events as they are stored.
    static func chain(
        _ count: Int, key: DeviceSigningKey
    ) -> (stored: [(event: AuditChain.Event, link: AuditChain.Link)], head: AuditChain.Head) {
        var chain = AuditChain(of: key.publicKey)
        let stored = (0..<count).map { (event($0), chain.append(event($0), signedBy: key)) }
        return (stored, chain.head)
    }

    /// The head after the whole chain, or nil with the number of the first invalid link.
    static func follow(
        _ stored: [(event: AuditChain.Event, link: AuditChain.Link)], of device: DevicePublicKey,
        from head: AuditChain.Head? = nil
    ) -> (head: AuditChain.Head, broken: Int?) {
        var chain = AuditChain(of: device, from: head)
        for (index, entry) in stored.enumerated() {
            let number = (head?.number ?? 0) + UInt64(index) + 1
            guard chain.follow(entry.event, number: number, link: entry.link) else { return (chain.head, index) }
        }
        return (chain.head, nil)
    }

    @Test func everyEditDeletionAndExchangeIsDetectedAtItsLink() throws {
        let key = DeviceSigningKey()
        let (stored, head) = Self.chain(20, key: key)
        let whole = Self.follow(stored, of: key.publicKey)
        #expect(whole.broken == nil && whole.head == head && head.number == 20)
        for index in 0..<19 {
            var deleted = stored
            deleted.remove(at: index)
            #expect(Self.follow(deleted, of: key.publicKey).broken == index)
            var exchanged = stored
            exchanged.swapAt(index, index + 1)
            #expect(Self.follow(exchanged, of: key.publicKey).broken == index)
            var repeated = stored
            repeated.insert(stored[index], at: index)
            #expect(Self.follow(repeated, of: key.publicKey).broken == index + 1)
        }
        // A truncation is detected only by a head from outside.
        #expect(Self.follow(stored.dropLast(), of: key.publicKey).head != head)
        #expect(Self.follow(stored, of: DeviceSigningKey().publicKey).broken == 0)
    }

    @Test func everyFieldOfAnEventIsHashed() {
        let key = DeviceSigningKey()
        var chain = AuditChain(of: key.publicKey)
        let event = Self.event(4)
        let link = chain.append(event, signedBy: key)
        let changes: [(inout AuditChain.Event) -> Void] = [
            { $0.time = $0.time.nextUp }, { $0.kind += "x" }, { $0.app = nil }, { $0.app = "" }, { $0.user = nil },
            { $0.user = 0 }, { $0.process = nil }, { $0.process = -4 }, { $0.path = nil }, { $0.path = "/usr/bin" },
            { $0.reason = "" }, { $0.reason = "wrong" }, { $0.sentence = "" },
            { ($0.kind, $0.app) = ("deniedf", "irefox") },
        ]
        for change in changes {
            var changed = event
            change(&changed)
            var reader = AuditChain(of: key.publicKey)
            let isFollowed = reader.follow(changed, number: 1, link: link)
            #expect(!isFollowed)
            #expect(reader.head.number == 0)
        }
        var reader = AuditChain(of: key.publicKey)
        let followed = [UInt64(0), 2, .max, 1].map { reader.follow(event, number: $0, link: link) }
        #expect(followed == [false, false, false, true])
    }

    @Test func onlyAValidHeadIsParsed() throws {
        let (_, head) = Self.chain(3, key: DeviceSigningKey())
        #expect(AuditChain.Head(head.description) == head)
        let hash = head.description.dropFirst(2)
        for text in [
            "", ":", "3", "3:", ":\(hash)", "+3:\(hash)", "03:\(hash)", "-3:\(hash)", "3:\(hash)0",
            "3:\(hash.dropLast())", "3:\(hash.uppercased())x", "3:\(hash):", " 3:\(hash)",
            "18446744073709551616:\(hash)", "3:\(hash.dropLast(2))",
        ] {
            #expect(AuditChain.Head(text) == nil, "\(text)")
        }
    }

    /// A head is read from paper or from a hub: the highest number must not end the process.
    @Test func theHighestNumberHasNoNextLink() throws {
        let key = DeviceSigningKey()
        let head = try #require(AuditChain.Head("18446744073709551615:" + String(repeating: "00", count: 32)))
        var chain = AuditChain(of: key.publicKey, from: head)
        let link = AuditChain.Link(hash: head.hash, signature: [])
        let isFollowed = chain.follow(Self.event(1), number: 0, link: link)
        #expect(!isFollowed)
    }
}
