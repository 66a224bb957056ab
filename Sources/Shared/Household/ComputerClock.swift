/// The difference between a computer's clock and this device's, from what the computer sealed.
///
/// A record can't arrive before it is written, so the largest difference is the most accurate.
public struct ComputerClock: Codable, Equatable, Sendable {
    /// Milliseconds to add to the own clock.
    private var offset: Int64?

    public init() {}

    /// - Parameters:
    ///   - clock: what the computer wrote, milliseconds since 1970.
    ///   - own: by this device's clock when it arrived.
    public mutating func received(_ clock: UInt64, at own: UInt64) {
        guard let sample = Self.difference(clock, own) else { return }
        offset = offset.map { max($0, sample) } ?? sample
    }

    /// The computer refused a time, so its clock was set since: earlier differences are discarded.
    public mutating func correct(_ clock: UInt64, at own: UInt64) { offset = Self.difference(clock, own) }

    /// The computer's clock now; this device's if the difference is unknown.
    public func now(_ own: UInt64) -> UInt64 { own.addingReportingOffset(offset ?? 0) }

    private static func difference(_ clock: UInt64, _ own: UInt64) -> Int64? {
        guard let clock = Int64(exactly: clock), let own = Int64(exactly: own) else { return nil }
        return clock - own
    }
}

extension UInt64 {
    fileprivate func addingReportingOffset(_ offset: Int64) -> UInt64 {
        offset < 0 ? (self > offset.magnitude ? self - offset.magnitude : 0) : self &+ UInt64(offset)
    }
}
