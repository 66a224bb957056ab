import ControlAPI
import Localization
public import Observation

/// The one transfer of files that runs at the moment, its progress and how to stop it.
@MainActor @Observable
public final class TransferWork {
    /// - Parameter part: 0 to 1.
    public typealias ProgressHandler = @Sendable (_ part: Double) -> Void

    public struct Step: Equatable, Sendable {
        /// "Locking taxes.pdf (2 of 3)".
        public var title: String
        /// 0 to 1, of all steps.
        public var part: Double

        /// Why another one can't begin.
        public var refusal: String { localized("\(title) is not finished. Wait until it ends.") }
    }

    public private(set) var step: Step?
    @ObservationIgnored private var stop: (() -> Void)?

    public init() {}

    /// Stops it.
    public func cancel() { stop?() }

    /// - Parameters:
    ///   - count: of all steps.
    ///   - done: how many of them are finished.
    /// - Throws: `ControlError` while another one runs; what `body` throws.
    func run<Result: Sendable>(
        _ title: String, of count: Int = 1, after done: Int = 0,
        _ body: @escaping @Sendable (@escaping ProgressHandler) async throws -> Result
    ) async throws -> Result {
        guard stop == nil else {
            throw ControlError(
                .failed,
                step?.refusal ?? localized("Another transfer is not finished. Wait until it ends."))
        }
        let (parts, newest) = AsyncStream.makeStream(of: Double.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            defer { newest.finish() }
            return try await body { newest.yield($0) }
        }
        stop = { task.cancel() }
        defer { (stop, step) = (nil, nil) }
        step = Step(title: title, part: Double(done) / Double(count))
        for await part in parts { step?.part = (Double(done) + min(1, part)) / Double(count) }
        return try await task.value
    }
}
