import Crypto
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import SealedFormats

/// Vectors/reader.py, an independent implementation in another language with another library, opens what Swift seals.
struct IndependentReaderTests {
    /// One line of the manifest: the parameters for opening a file.
    struct Entry: Encodable {
        struct Name: Encodable {
            var vault: ItemID?
            var collection: String?
            var id: ItemID?
            var revision: UInt64?
            var purpose: String?
        }
        struct Event: Encodable {
            let time: Double
            let kind: String
            let app: String?
            let user: UInt32?
            let process: Int32?
            let path: String?
            let reason: String?
            let sentence: String
            let hash: String
            let signature: String
        }
        let format: String
        var file: String?
        var key: String?
        var name: Name?
        var passcode: String?
        var mixedSecret: String?
        var publicKey: String?
        var purpose: String?
        var message: String?
        var events: [Event]?
        var text: String?
    }

    /// The reader's result for one line.
    struct Found: Decodable, Equatable {
        struct RingEntry: Decodable, Equatable {
            let kind: UInt8
            let vault: ItemID
            let epoch: UInt32
            let key: String
        }
        let format: String
        var error: String?
        var rootKey: String?
        var slot: Int?
        var entries: [RingEntry]?
        var content: String?
        var valid: Bool?
        var head: String?
        var body: String?
        var kinds: [Int]?
    }

    /// A folder of sealed samples, and the expected results of the reader.
    final class Folder {
        let directory: TemporaryDirectory
        private(set) var entries: [Entry] = []
        private(set) var expected: [Found] = []

        static let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Vectors/reader.py").standardizedFileURL.path

        init() throws { directory = try TemporaryDirectory() }

        func add(_ sealed: [UInt8], _ entry: Entry, finds: Found) throws {
            var entry = entry
            let file = "\(entries.count).\(entry.format)"
            try Data(sealed).write(to: directory.url.appendingPathComponent(file))
            entry.file = file
            entries.append(entry)
            expected.append(finds)
        }

        func read() async throws -> (exit: ChildProcess.Exit, found: [Found], errors: String) {
            try JSONEncoder().encode(entries).write(to: directory.url.appendingPathComponent("manifest.json"))
            let child = try ChildProcess("/usr/bin/python3", ["-B", Self.reader, directory.path])
            let exit = try await child.wait()
            return (exit, try JSONDecoder().decode([Found].self, from: child.outputData), child.errorOutput)
        }
    }

    static func name(_ name: RecordName) -> Entry.Name {
        Entry.Name(vault: name.vault, collection: name.collection.rawValue, id: name.id, revision: name.revision)
    }

    static func hash(_ bytes: some Sequence<UInt8>) -> String {
        Hexadecimal.encode(Array(SHA256.hash(data: Array(bytes))))
    }

    @Test(.requires(.path("/usr/lib/python3/dist-packages/cryptography")))
    func theReaderOpensEverythingThatSwiftSeals() async throws {
        let folder = try Folder()
        try addKeys(to: folder)
        try addRecords(to: folder)
        try addStreams(to: folder)
        try addSignatures(to: folder)
        try addFiles(to: folder)
        let read = try await folder.read()
        #expect(read.exit == .code(0), "\(read.errors)")
        #expect(read.found.count == 36)
        #expect(read.found == folder.expected)
    }

    @Test(.requires(.path("/usr/lib/python3/dist-packages/cryptography")))
    func theReaderRefusesChangedBytes() async throws {
        let folder = try Folder()
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        let sealed = try RecordEnvelope(sealing: [1], as: name, vaultKey: key, epoch: 1).bytes
        for (bit, error) in [(0, "malformed"), (32, "unknownVersion"), (200, "wrongKey"), (3_000, "damaged")] {
            try folder.add(
                sealed.flipped(bit: bit), Entry(format: "envelope", key: hex(key), name: Self.name(name)),
                finds: Found(format: "envelope", error: error))
        }
        let read = try await folder.read()
        #expect(read.exit == .code(1))
        #expect(read.found == folder.expected)
    }

    @Test(.requires(.path("/usr/lib/python3/dist-packages/cryptography")))
    func theReaderPassesEveryVector() async throws {
        let run = try await ChildProcess.run("/usr/bin/python3", ["-B", Folder.reader])
        #expect(run.exit == .code(0), "\(run.errorOutput)")
        #expect(run.output == "523 vectors hold.\n")
    }

    private func addKeys(to folder: Folder) throws {
        let machineSecret = FormatSamples.key()
        for (derivation, secret) in [
            (KeySlots.Derivation.scrypt(.minimum), machineSecret), (FormatSamples.derivation, nil),
        ] {
            var slots = KeySlots(derivation: derivation, usesMixedSecret: secret != nil)
            let (root, slot) = (FormatSamples.key(), Int.random(in: 0..<8))
            let passcode = "Grüße \(Int.random(in: 0...9_999)) 🔑"
            slots.set(
                slot, to: root, behind: try slots.stretch(SecretBytes(utf8: passcode), mixedSecret: secret))
            try folder.add(
                slots.bytes, Entry(format: "slots", passcode: passcode, mixedSecret: secret.map { hex($0) }),
                finds: Found(format: "slots", rootKey: hex(root), slot: slot))
        }
        for ring in [KeyRing([]), FormatSamples.ring()] {
            let root = FormatSamples.key()
            let entries = ring.entries.map {
                Found.RingEntry(kind: $0.kind.rawValue, vault: $0.vault, epoch: $0.epoch, key: hex($0.key))
            }
            try folder.add(
                ring.sealed(under: root), Entry(format: "ring", key: hex(root)),
                finds: Found(format: "ring", entries: entries))
        }
    }

    private func addRecords(to folder: Folder) throws {
        for size in [0, 1, 252, 253, 268, 269, Int.random(in: 300...5_000), 100_000] {
            let name = FormatSamples.name(revision: .random(in: 1...UInt64.max))
            let (key, newer, body) = (FormatSamples.key(), FormatSamples.key(), FormatSamples.bytes(size))
            let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: key, epoch: 3)
            let rewrapped = try envelope.rewrapped(as: name, from: key, to: newer, epoch: 70_000)
            for (envelope, key) in [(envelope, key), (rewrapped, newer)] {
                try folder.add(
                    envelope.bytes, Entry(format: "envelope", key: hex(key), name: Self.name(name)),
                    finds: Found(format: "envelope", content: Self.hash(body)))
            }
            let keys = BoxKeyPair()
            try folder.add(
                try PublicKeyBox.seal(body, as: name, to: keys.publicKey),
                Entry(format: "box", key: hex(keys.privateKey), name: Self.name(name)),
                finds: Found(format: "box", content: Self.hash(body)))
        }
    }

    private func addStreams(to folder: Folder) throws {
        let (vault, id) = (ItemID.random(), ItemID.random())
        let named = ContentStream.Name(vault: vault, collection: .files, id: id)
        for (size, chunkSize) in [
            (0, ContentStream.ChunkSize.mebi1), (1 << 16, .kibi64), ((1 << 18) + 1, .kibi256), (200_000, .kibi64),
        ] {
            let (key, content) = (FormatSamples.key(), FormatSamples.bytes(size))
            let stream = ContentStream(sealing: named, key: key, chunkSize: chunkSize)
            try folder.add(
                SealedContent.seal(content, with: stream),
                Entry(
                    format: "stream", key: hex(key),
                    name: Entry.Name(vault: vault, collection: "files", id: id)),
                finds: Found(format: "stream", content: Self.hash(content)))
        }
    }

    private func addSignatures(to folder: Folder) throws {
        let key = DeviceSigningKey()
        let publicKey = Hexadecimal.encode(key.publicKey.bytes)
        let message = FormatSamples.bytes(77)
        try folder.add(
            key.signature(of: message, purpose: "roster"),
            Entry(
                format: "signature", publicKey: publicKey, purpose: "roster", message: Hexadecimal.encode(message)),
            finds: Found(format: "signature", valid: true))
        let (stored, head) = AuditChainTests.chain(10, key: key)
        let events = stored.map { event, link in
            Entry.Event(
                time: event.time, kind: event.kind, app: event.app, user: event.user, process: event.process,
                path: event.path, reason: event.reason, sentence: event.sentence,
                hash: Hexadecimal.encode(link.hash), signature: Hexadecimal.encode(link.signature))
        }
        try folder.add(
            [], Entry(format: "audit", publicKey: publicKey, events: events),
            finds: Found(format: "audit", head: head.description))
    }

    private func addFiles(to folder: Folder) throws {
        let (vault, id, key, contentKey) = (ItemID.random(), ItemID.random(), FormatSamples.key(), FormatSamples.key())
        let content = FormatSamples.bytes(70_000)
        let encodedKey = contentKey.withUnsafeBytes { Data($0).base64EncodedString() }
        let envelope = try RecordEnvelope(
            sealing: Array(#"{"name": "diary.txt", "contentKey": "\#(encodedKey)"}"#.utf8),
            as: LockedFileHeader.name(vault: vault, id: id), vaultKey: key, epoch: 2)
        let stream = ContentStream(
            sealing: LockedFileHeader.streamName(vault: vault, id: id), key: contentKey, chunkSize: .kibi64)
        try folder.add(
            LockedFileHeader(vault: vault, id: id, envelope: envelope).bytes
                + SealedContent.seal(content, with: stream),
            Entry(format: "locked-file", key: hex(key)),
            finds: Found(format: "locked-file", content: Self.hash(content), body: "diary.txt"))

        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        let root = FormatSamples.key()
        slots.set(6, to: root, behind: try slots.stretch(SecretBytes(utf8: "passphrase"), mixedSecret: nil))
        let ring = FormatSamples.ring().plaintext.withUnsafeBytes { Array($0) }
        let parts: [(BackupEntry.Kind, [UInt8])] = [
            (.manifest, Array("{}".utf8)), (.keyRing, ring), (.blob, FormatSamples.bytes(90_000)),
        ]
        let entries = (parts + [(.end, [])]).flatMap { kind, bytes in
            BackupEntry(kind: kind, length: UInt64(bytes.count)).header + bytes
        }
        let backup = ContentStream(sealing: BackupHeader.streamName, key: root, chunkSize: .kibi64)
        try folder.add(
            BackupHeader(slots: slots).bytes + SealedContent.seal(entries, with: backup),
            Entry(format: "backup", passcode: "passphrase"),
            finds: Found(format: "backup", content: Self.hash(parts.flatMap(\.1)), kinds: [1, 3, 5]))
    }
}
