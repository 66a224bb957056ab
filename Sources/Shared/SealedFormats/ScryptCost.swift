#if DEBUG
    import Foundation
#endif

/// How much work one guess at a passcode is: scrypt with N = 2^17 to 2^20, r = 8, p = 1 (RFC 7914 section 2), at least
/// what OWASP asks for.
public struct ScryptCost: Hashable, Sendable {
    /// The base-2 logarithm of N, one of `allowedLogarithms`.
    public let logarithm: Int

    /// 17 to 20. A debug build, which is never installed, allows less for tests: what they test is rarely the
    /// derivation itself.
    public static let allowedLogarithms: ClosedRange<Int> = {
        #if DEBUG
            if ProcessInfo.processInfo.environment["APPLOCKER_SMALLEST_PASSCODE_COST"] != nil { return 10...20 }
        #endif
        return 17...20
    }()
    public static let blockSize = 8
    public static let parallelism = 1
    public static let minimum = ScryptCost(checked: allowedLogarithms.lowerBound)

    /// Returns nil outside `allowedLogarithms`.
    public init?(logarithm: Int) {
        guard Self.allowedLogarithms.contains(logarithm) else { return nil }
        self.init(checked: logarithm)
    }

    private init(checked logarithm: Int) { self.logarithm = logarithm }

    public var rounds: Int { 1 << logarithm }

    /// What one derivation needs while it runs, in bytes: 128 MiB to 1 GiB.
    public var memory: Int { 128 * rounds * Self.blockSize }

    /// The largest cost that takes no longer than `target` on this machine, found by running the smallest one and
    /// doubling; the smallest one where even that takes longer.
    ///
    /// Blocks for about as long as that one derivation takes: call it on a thread of its own.
    /// - Parameter maximumMemory: in bytes; costs that need more are not considered.
    /// - Throws: `SealedFormatsError` with code `derivationFailed`.
    public static func calibrated<C: Clock>(
        target: Duration = .seconds(1), maximumMemory: Int = 512 << 20, clock: C
    ) throws(SealedFormatsError) -> ScryptCost where C.Duration == Duration {
        let passcode = SecretBytes.random(count: 16)
        let start = clock.now
        _ = try minimum.derive(passcode, salt: Array(repeating: 0, count: 32))
        return largest(
            within: target, maximumMemory: maximumMemory, minimumTook: start.duration(to: clock.now))
    }

    /// Each doubling of N doubles the time and the memory.
    package static func largest(within target: Duration, maximumMemory: Int, minimumTook: Duration) -> ScryptCost {
        var (cost, time) = (minimum, minimumTook)
        while let next = ScryptCost(logarithm: cost.logarithm + 1), time * 2 <= target, next.memory <= maximumMemory {
            (cost, time) = (next, time * 2)
        }
        return cost
    }

    /// 32 bytes.
    func derive(_ passcode: SecretBytes, salt: [UInt8]) throws(SealedFormatsError) -> SecretBytes {
        try KeyDerivation.scrypt(
            passcode, salt: salt, rounds: rounds, blockSize: Self.blockSize, parallelism: Self.parallelism, count: 32)
    }
}
