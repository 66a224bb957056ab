public import ControlAPI
import Localization

/// The window's port to the daemon: the operations of the control socket. Called from the main actor; an implementation
/// may run on any executor.
///
/// - Throws: `ControlError` where the daemon refused, `DaemonUnreachable` where there is no valid answer.
public protocol DesktopControl: Sendable {
    func send<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, parameter: String?, token: String?, body: Body
    ) async throws -> Reply

    func send<Query: ControlQuery, Reply>(
        _ operation: ControlOperationPath<Query, Reply>, parameter: String?, token: String?, query: Query
    ) async throws -> Reply

    /// Sealed bytes of a blob: at most `ControlRoute.maximumBlobPiece` from an offset, fewer at its end.
    func readBlob(_ blob: String, offset: UInt64) async throws -> [UInt8]

    /// Appends bytes to a blob, at most `ControlRoute.maximumBlobPiece`.
    func putBlob(_ blob: String, offset: UInt64, bytes: [UInt8]) async throws

    /// The same for requests about moments, photos and blobs of a shared vault.
    ///
    /// - Parameter id: nil for this computer's own vault.
    func inVault(_ id: String?) -> any DesktopControl
}

extension DesktopControl {
    @discardableResult
    func call<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, parameter: String? = nil, token: String? = nil, body: Body
    ) async throws -> Reply {
        try await send(operation, parameter: parameter, token: token, body: body)
    }

    @discardableResult
    func call<Query: ControlQuery, Reply>(
        _ operation: ControlOperationPath<Query, Reply>, parameter: String? = nil, query: Query = Query(),
        token: String? = nil
    ) async throws -> Reply {
        try await send(operation, parameter: parameter, token: token, query: query)
    }
}

/// The daemon did not answer, or not as this version expects.
public struct DaemonUnreachable: Error, Equatable, Sendable {
    /// Whether nothing listens on the control socket.
    public let isStopped: Bool
    /// What failed, why, and what to do.
    public let sentence: String

    public init(isStopped: Bool, sentence: String) {
        self.isStopped = isStopped
        self.sentence = sentence
    }
}

/// The sentence that reports an error to a person.
public func sentence(_ error: any Error) -> String {
    switch error {
    case let error as ControlError: localized(written: error.message)
    case let error as DaemonUnreachable: localized(written: error.sentence)
    default: localized(written: "\(error)")
    }
}

/// The first of the daemon's sentences about a change, in the person's language.
func localizedNote(_ notes: [String]) -> String? { notes.first.map { localized(written: $0) } }
