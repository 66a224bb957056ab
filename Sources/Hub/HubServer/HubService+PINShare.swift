import Crypto
import Foundation
import HubAPI
import HubStore

extension HubService {
    func setPINShare(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PINShareRequest.self)
        guard message.entries.count == PINShareRequest.count else {
            throw HubError(.badRequest, "A PIN share has \(PINShareRequest.count) entries; fill it with random ones.")
        }
        for entry in message.entries {
            try Check.bytes(entry.verifier, 32, "verifier")
            try Check.bytes(entry.share, 32, "share")
            try Check.bytes(entry.changeHash, 32, "changeHash")
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
        return try .json(PINShareState(failures: counter.failures, retryAfterSeconds: seconds(until: counter.opensAt)))
    }

    func attemptPIN(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PINAttemptRequest.self)
        try Check.bytes(message.verifier, 32, "verifier")
        let device = try request.knownDevice()
        let attempt = try await metrics.timing("pin") {
            try await store.attemptPIN(
                message.verifier, device: device.id, household: device.household, at: time.seconds())
        }
        switch attempt {
        case .right(let share): return try .json(PINShareAnswer(share: share))
        case .wrong(let failures, let opensAt):
            metrics.wrongPIN()
            throw refusal(failures: failures, opensAt: opensAt)
        }
    }

    func replacePIN(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PINReplaceRequest.self)
        try Check.bytes(message.changeSecret, 32, "changeSecret")
        try Check.bytes(message.verifier, 32, "verifier")
        try Check.bytes(message.share, 32, "share")
        let device = try request.knownDevice()
        try await store.replacePIN(
            changeHash: Data(SHA256.hash(data: message.changeSecret)), verifier: message.verifier,
            share: message.share, device: device.id, household: device.household)
        return .done
    }

    private func refusal(failures: Int, opensAt: Int64) -> HubError {
        if failures >= PINShareState.failuresToDestroy { return Self.destroyed }
        let wait = seconds(until: opensAt)
        if wait > 0 {
            return HubError(
                .tooMany, "Wrong PIN; the next attempt is allowed in \(wait) s.", retryAfterSeconds: wait)
        }
        let left = PINShareState.failuresToDestroy - failures
        let attempts = left == 1 ? "1 attempt" : "\(left) attempts"
        return HubError(.wrongPIN, "Wrong PIN; \(attempts) left before the device has to be paired again.")
    }

    private static let destroyed = HubError(
        .gone, "Too many wrong PINs: the share is destroyed. Pair the device again.")

    private func seconds(until moment: Int64) -> Int {
        Int(StoredPINShare.wait(until: moment, at: time.seconds()))
    }
}
