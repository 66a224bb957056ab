import ControlAPI
import DesktopModels
import LocalControl
import Localization

/// The daemon over its control socket.
struct DaemonControl: DesktopControl {
    /// Determined for each request: a restarted daemon may have another state directory.
    let socketPath: @Sendable () -> String
    /// Nil for this computer's own vault.
    private(set) var sharedVault: String?

    init(socketPath: @escaping @Sendable () -> String) { self.socketPath = socketPath }

    func inVault(_ id: String?) -> any DesktopControl { with(vault: id) }

    func with(vault id: String?) -> DaemonControl {
        var control = self
        control.sharedVault = id
        return control
    }

    func send<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, parameter: String?, token: String?, body: Body
    ) async throws -> Reply {
        // With much data a backup takes longer than any other request.
        let isBackup = [.exportBackup, .importBackup].contains(ControlOperations.all[keyPath: operation].route)
        return try await translatingErrors(answerTimeout: isBackup ? .seconds(86_400) : nil) {
            try await $0.call(operation, parameter: parameter, token: token, body: body)
        }
    }

    func send<Query: ControlQuery, Reply>(
        _ operation: ControlOperationPath<Query, Reply>, parameter: String?, token: String?, query: Query
    ) async throws -> Reply {
        try await translatingErrors {
            try await $0.call(operation, parameter: parameter, query: query, token: token)
        }
    }

    func readBlob(_ blob: String, offset: UInt64) async throws -> [UInt8] {
        try await translatingErrors {
            try await $0.readBlob(blob, offset: offset, length: ControlRoute.maximumBlobPiece)
        }
    }

    func putBlob(_ blob: String, offset: UInt64, bytes: [UInt8]) async throws {
        try await translatingErrors { try await $0.putBlob(blob, offset: offset, bytes: bytes) }
    }

    /// - Throws: as `DesktopControl`, and what `work` throws else.
    func translatingErrors<Reply: Sendable>(
        answerTimeout: Duration? = nil, _ work: (ControlClient) async throws -> Reply
    ) async throws -> Reply {
        do {
            let client = ControlClient(socketPath: socketPath(), answerTimeout: answerTimeout)
            return try await work(client.inVault(sharedVault))
        } catch let error as ControlClientError {
            switch error {
            case .notRunning(let path, _):
                throw DaemonUnreachable(
                    isStopped: true,
                    sentence: localized(
                        "Nothing answers on \(path). Start the service applockerd, or run `applocker up`."))
            case .noAnswer, .notUnderstood: throw DaemonUnreachable(isStopped: false, sentence: "\(error)")
            }
        }
    }
}
