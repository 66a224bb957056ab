import Foundation
import HubAPI
import HubStore
import Synchronization

/// The limits of requests, tokens and bytes, and what is counted against them.
final class RequestLimits: Sendable {
    private let addresses: RateLimiter<[UInt8]>
    private let devices: RateLimiter<HubID>
    private let households: RateLimiter<HubID>
    private let addressBytes: RateLimiter<[UInt8]>
    private let householdBytes: RateLimiter<HubID>
    private let failedTokens: RateLimiter<[UInt8]>
    private let arrivals: RateLimiter<[UInt8]>
    private let openFoundings: RateLimiter<[UInt8]>
    /// Hashes of tokens that were valid when they were last used.
    private let good = Mutex<Set<Data>>([])
    private let time: any HubTime
    private let metrics: HubMetrics

    init(_ limits: HubLimits, time: any HubTime, metrics: HubMetrics) {
        addresses = RateLimiter(limits.addressRequests)
        devices = RateLimiter(limits.deviceRequests)
        households = RateLimiter(limits.householdRequests)
        addressBytes = RateLimiter(limits.addressBytes)
        householdBytes = RateLimiter(limits.householdBytes)
        failedTokens = RateLimiter(limits.failedTokens)
        arrivals = RateLimiter(limits.arrivals)
        openFoundings = RateLimiter(limits.openFoundings)
        self.time = time
        self.metrics = metrics
    }

    func count(_ client: Client) throws {
        try check(addresses.take(client.countedAs, at: time.elapsed()), "address")
        try check(addressBytes.take(client.countedAs, cost: 0, at: time.elapsed()), "address_bytes")
    }

    func count(_ device: StoredDevice) throws {
        try check(devices.take(device.id, at: time.elapsed()), "device")
        try check(households.take(device.household, at: time.elapsed()), "household")
        try check(householdBytes.take(device.household, cost: 0, at: time.elapsed()), "household_bytes")
    }

    /// Counts bytes after they were read; too many delay the next request.
    func count(bytes: Int, of device: StoredDevice?, from client: Client) {
        _ = addressBytes.take(client.countedAs, cost: Double(bytes), at: time.elapsed())
        if let device { _ = householdBytes.take(device.household, cost: Double(bytes), at: time.elapsed()) }
    }

    /// Counts 16 records of one request as another request: each has a signature to verify.
    func count(records: Int, of device: StoredDevice) throws {
        let cost = Double(records) / 16
        try check(devices.take(device.id, cost: cost, at: time.elapsed()), "device")
        try check(households.take(device.household, cost: cost, at: time.elapsed()), "household")
    }

    func countArrival(_ client: Client) throws {
        try check(arrivals.take(client.countedAs, at: time.elapsed()), "arrivals")
    }

    /// Counts a household that anybody may found.
    func countOpenFounding(_ client: Client) throws {
        try check(openFoundings.take(client.countedAs, at: time.elapsed()), "foundings")
    }

    // MARK: Tokens

    func countFailedToken(_ client: Client) throws {
        try check(failedTokens.take(client.countedAs, at: time.elapsed()), "failed_tokens")
    }

    func checkFailedTokens(_ client: Client) throws {
        try check(failedTokens.take(client.countedAs, cost: 0, at: time.elapsed()), "failed_tokens")
    }

    func wasGood(_ hash: Data) -> Bool { good.withLock { $0.contains(hash) } }

    func remember(_ hash: Data) {
        good.withLock { good in
            if good.count > 100_000 { good.removeAll() }
            good.insert(hash)
        }
    }

    func forget(_ hash: Data) { good.withLock { _ = $0.remove(hash) } }

    private func check(_ seconds: Int?, _ limit: String) throws {
        guard let seconds else { return }
        metrics.refused(by: limit)
        throw HubError(
            .tooMany, "Too many requests; the next is allowed in \(seconds) s.",
            retryAfterSeconds: seconds)
    }
}
