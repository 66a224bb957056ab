// Durable appends to a hub's store, without HTTP: records of 1 KiB by clients that each wait for their answer.
//
//   hub-append-speed sqlite DIRECTORY CLIENTS SECONDS HOUSEHOLDS
//   hub-append-speed signed DIRECTORY CLIENTS SECONDS HOUSEHOLDS     SQLite, each after the check of a signature
//   hub-append-speed postgres FILE CLIENTS SECONDS HOUSEHOLDS      FILE: a connection string of libpq, mode 0600
//
// Prints one line: appends a second, p50 and p99 of an append in microseconds, processor time of this process for each
// append in microseconds.
import Foundation
import Glibc
import HubAPI
import HubStore
import HubStorePostgres
import HubStoreSQLite
import SealedFormats

struct WrongUsage: Error, CustomStringConvertible {
    let description =
        "usage: hub-append-speed sqlite|signed DIRECTORY or postgres FILE, then CLIENTS SECONDS HOUSEHOLDS"
}

func id(_ high: Int, _ low: Int) -> HubID {
    func digits(_ number: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
    guard let id = HubID(digits(high) + digits(low)) else { preconditionFailure("16 digits each") }
    return id
}

/// Of this process, in seconds.
func processorTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

/// A record of 1 KiB with its author's signature, to be checked as the hub checks those that it receives.
struct SignedRecord {
    private let author: DevicePublicKey
    private let name = RecordName(vault: .random(), collection: .events, id: .random(), revision: 1)
    private let sealed: [UInt8]
    private let signature: [UInt8]

    init(sealed: Data) {
        let key = DeviceSigningKey()
        (author, self.sealed) = (key.publicKey, [UInt8](sealed))
        signature = RecordSignature.sign(name, epoch: 1, blobs: [], sealed: self.sealed, with: key)
    }

    func check() throws {
        guard RecordSignature.verify(signature, name, epoch: 1, blobs: [], sealed: sealed, author: author) else {
            throw HubError(.badRequest, "The signature is wrong.")
        }
    }
}

/// Appends until the time is up.
/// - Returns: how long each took, in seconds.
func append(
    to store: any HubStore, household: HubID, client: Int, run: Int, isSigned: Bool, until end: ContinuousClock.Instant
) async throws -> [Double] {
    let clock = ContinuousClock()
    let sealed = Data((0..<1_024).map { _ in UInt8.random(in: 0...255) })
    let signature = Data((0..<64).map { _ in UInt8.random(in: 0...255) })
    let signed = isSigned ? SignedRecord(sealed: sealed) : nil
    var times: [Double] = []
    var number = 0
    while clock.now < end {
        number += 1
        let record = HubRecord(
            collection: "events", id: id(run << 20 | client, number), vault: household, revision: 1, epoch: 1,
            author: household, sealed: sealed, signature: signature)
        let begin = clock.now
        try signed?.check()
        let outcomes = try await store.write([record], household: household, at: 1_800_000_000)
        times.append((clock.now - begin) / .seconds(1))
        guard outcomes.first?.sequence != nil else { throw HubError(.failed, "It was not written.") }
    }
    return times
}

func run(_ words: [String]) async throws {
    guard words.count == 5, let clients = Int(words[2]), let seconds = Double(words[3]), let count = Int(words[4]),
        clients > 0, count > 0
    else { throw WrongUsage() }
    let store: any HubStore
    switch words[0] {
    case "sqlite", "signed": store = try SQLiteHubStore(path: words[1] + "/hub.sqlite")
    case "postgres": store = try await PostgresHubStore(.file(words[1]))
    default: throw WrongUsage()
    }
    let run = Int.random(in: 0..<1 << 40)
    var households: [HubID] = []
    for number in 0..<count {
        let household = id(run, number)
        households.append(household)
        _ = try await store.foundHousehold(
            NewHouseholdRequest(
                household: household, device: household, entry: Data([1]), tokenHash: Data("\(household)".utf8)))
    }
    let (begin, used) = (ContinuousClock().now, processorTime())
    let end = begin + .seconds(seconds)
    let times = try await withThrowingTaskGroup(of: [Double].self) { group in
        for client in 0..<clients {
            let household = households[client % count]
            group.addTask {
                try await append(
                    to: store, household: household, client: client, run: run, isSigned: words[0] == "signed",
                    until: end)
            }
        }
        return try await group.reduce(into: [Double]()) { $0 += $1 }.sorted()
    }
    let elapsed = (ContinuousClock().now - begin) / .seconds(1)
    let spent = processorTime() - used
    try await store.close()
    func share(_ part: Double) -> Double { times[min(times.count - 1, Int(Double(times.count) * part))] * 1e6 }
    print(Int(Double(times.count) / elapsed), Int(share(0.5)), Int(share(0.99)), spent / Double(times.count) * 1e6)
}

do {
    try await run(Array(CommandLine.arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("hub-append-speed: \(error)\n".utf8))
    exit(1)
}
