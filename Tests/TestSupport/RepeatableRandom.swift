import Foundation

/// The same numbers for the same seed, so that a failure can be reproduced: SplitMix64.
public struct RepeatableRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// Other numbers in each run. The seed is printed; with `APPLOCKER_SEED=12` it is 12.
    public init(ofTest name: String = #function) {
        let asked = ProcessInfo.processInfo.environment["APPLOCKER_SEED"].flatMap { UInt64($0) }
        let seed = asked ?? .random(in: 0..<1_000_000)
        print("\(name): APPLOCKER_SEED=\(seed)")
        self.init(seed: seed)
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Seeds of a randomised test: the fixed ones and as many random ones as an environment variable requests (`NAME=20`),
/// which are printed; or only those that it lists (`NAME=12,345`, `NAME=12,`). A run with random ones and the long form
/// (`APPLOCKER_LONG=1`) have also the fixed ones of `more`.
public func seeds(
    _ always: [UInt64], more: [UInt64] = [], orAskedBy variable: String, upTo end: UInt64 = 1_000_000
) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    let asked = environment[variable] ?? "0"
    if asked.contains(",") { return asked.split(separator: ",").compactMap { UInt64($0) } }
    let random = (0..<(Int(asked) ?? 0)).map { _ in UInt64.random(in: 0..<end) }
    if !random.isEmpty { print("\(variable): seeds \(random)") }
    return always + (random.isEmpty && environment["APPLOCKER_LONG"] != "1" ? [] : more) + random
}
