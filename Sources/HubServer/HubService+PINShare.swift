import Foundation
import HubStore
import WireProtocol

extension HubService {
    func setPINShare(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PINShareRequest.self)
        guard message.entries.count == PINShareRequest.count else {
            throw HubError(.badRequest, "A PIN share has \(PINShareRequest.count) entries; fill it with random ones.")
        }
        for entry in message.entries {
            try Check.bytes(entry.verifier, 32, "verifier")
            try Check.bytes(entry.share, 32, "share")
        }
        let device = try request.knownDevice()
        try await store.setPINShare(message, device: device.id, household: device.household)
        return .done
    }

    func pinShare(_ request: HubRequest) async throws -> HubReply {
        let device = try request.knownDevice()
        guard let counter = try await store.pinShare(device: device.id, household: device.household) else {
            throw HubError(.notFound, "This device has no PIN share at the hub.")
        }
        if counter.failures >= PINShareState.failuresToDestroy { throw Self.destroyed }
        return try .json(PINShareState(failures: counter.failures, retryAfterSeconds: seconds(until: counter.opensAt)))
    }

    func removePINShare(_ request: HubRequest) async throws -> HubReply {
        let device = try request.knownDevice()
        try await store.removePINShare(device: device.id, household: device.household)
        return .done
    }

    func attemptPIN(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PINAttemptRequest.self)
        try Check.bytes(message.verifier, 32, "verifier")
        let device = try request.knownDevice()
        let entry = try await entry(fitting: message.verifier, of: device)
        try await store.succeedPIN(device: device.id, household: device.household)
        return try .json(PINShareAnswer(share: entry.share))
    }

    func replacePIN(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PINReplaceRequest.self)
        try Check.bytes(message.verifier, 32, "verifier")
        try Check.bytes(message.entry.verifier, 32, "verifier")
        try Check.bytes(message.entry.share, 32, "share")
        let device = try request.knownDevice()
        let entry = try await entry(fitting: message.verifier, of: device)
        try await store.succeedPIN(
            device: device.id, household: device.household, replacing: entry.verifier, by: message.entry)
        return .done
    }

    /// The store counts durably before it hands out what to compare with; all entries are compared, and the last that fits
    /// counts. Nobody says yet that it was right.
    private func entry(fitting verifier: Data, of device: StoredDevice) async throws -> PINShareRequest.Entry {
        let attempt = try await metrics.timing("pin") {
            try await store.attemptPIN(device: device.id, household: device.household, at: time.seconds())
        }
        var fitting: PINShareRequest.Entry?
        for entry in attempt.entries where isSame(entry.verifier, verifier) { fitting = entry }
        if let fitting { return fitting }
        metrics.wrongPIN()
        try await store.failPIN(device: device.id, household: device.household)
        if attempt.failures >= PINShareState.failuresToDestroy { throw Self.destroyed }
        let counter = try await store.pinShare(device: device.id, household: device.household)
        let wait = seconds(until: counter?.opensAt ?? 0)
        if wait > 0 {
            throw HubError(
                .tooMany, "That was not the PIN; the next attempt is looked at in \(wait) s.", retryAfterSeconds: wait)
        }
        let left = PINShareState.failuresToDestroy - attempt.failures
        throw HubError(
            .wrongPIN, "That was not the PIN; \(left) more wrong ones and the device has to be paired again.")
    }

    private static let destroyed = HubError(
        .gone, "There were too many wrong PINs: the share is destroyed. Pair the device again.")

    private func seconds(until moment: Int64) -> Int {
        Int(min(max(0, moment.subtractingReportingOverflow(time.seconds()).partialValue), 86_400))
    }
}
