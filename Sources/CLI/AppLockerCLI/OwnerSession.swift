import ControlAPI
import LocalControl

/// Requests that need the owner: a management session is opened with the passcode, used, and ended.
struct OwnerSession: Sendable {
    let client: ControlClient
    let passcodes: PasscodeSource

    /// Asks for the passcode, opens a session, does the work and ends the session, also after an error.
    func open<Result>(_ work: (_ token: String) async throws -> Result) async throws -> Result {
        // Checked first, so that no passcode is typed if AppLocker isn't running or has no passcode yet.
        try await client.requireSetUp()
        return try await open(with: passcodes.existing(), work)
    }

    /// The same with a passcode that was already read.
    func open<Result>(
        with passcode: Passcode, _ work: (_ token: String) async throws -> Result
    ) async throws -> Result {
        let session = try await client.call(\.openSession, body: PasscodeRequest(passcode: passcode.text))
        do {
            let result = try await work(session.token)
            await end(session)
            return result
        } catch {
            await end(session)
            throw error
        }
    }

    /// One request in a session of its own.
    func call<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, parameter: String? = nil, body: Body
    ) async throws -> Reply {
        try await open { try await client.call(operation, parameter: parameter, token: $0, body: body) }
    }

    func call<Query: ControlQuery, Reply>(
        _ operation: ControlOperationPath<Query, Reply>, parameter: String? = nil
    ) async throws -> Reply {
        try await open { try await client.call(operation, parameter: parameter, token: $0) }
    }

    /// Does the work without a session, and with one only if AppLocker requires it.
    func whereNeeded<Result>(_ work: (_ token: String?) async throws -> Result) async throws -> Result {
        try await lookingFirst(work).result
    }

    /// The same, and returns the passcode if it was read, so that it is read only once.
    func lookingFirst<Result>(
        _ work: (_ token: String?) async throws -> Result
    ) async throws -> (result: Result, passcode: Passcode?) {
        do {
            return (try await work(nil), nil)
        } catch let error as ControlError where error.code == .sessionNeeded {
            let passcode = try await passcodes.existing()
            return (try await open(with: passcode) { try await work($0) }, passcode)
        }
    }

    /// Users who have given the passcode before can read it without a session.
    func hub() async throws -> HubStatus {
        try await whereNeeded { try await client.call(\.hubStatus, token: $0) }
    }

    /// If this fails, the session expires within minutes, and its token was never shown.
    private func end(_ session: SessionReport) async {
        _ = try? await client.call(\.endSession, token: session.token)
    }
}

extension ControlClient {
    /// - Throws: `ControlError` with `notSetUp`.
    func requireSetUp() async throws {
        guard try await call(\.status).isSetUp else {
            throw ControlError(.notSetUp, "No passcode has been chosen yet. Run `applocker setup` first.")
        }
    }
}
