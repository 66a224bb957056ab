import Foundation
import Glibc
import HubAPI
import Synchronization

/// The counts and times of `/metrics`. None identifies a household, device or address.
final class HubMetrics: Sendable {
    /// Upper bounds in seconds.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private struct Histogram {
        var counts = [UInt64](repeating: 0, count: HubMetrics.bounds.count + 1)
        var sum = 0.0

        mutating func add(_ seconds: Double) {
            counts[HubMetrics.bounds.firstIndex { seconds <= $0 } ?? HubMetrics.bounds.count] += 1
            sum += seconds
        }
    }

    private struct Answer: Hashable {
        let route: String
        let status: Int
    }

    private struct State {
        var answers: [Answer: UInt64] = [:]
        var requestTimes: [String: Histogram] = [:]
        var storeTimes: [String: Histogram] = [:]
        var pushes: [String: UInt64] = [:]
        var refusals: [String: UInt64] = [:]
        var recordsWritten: UInt64 = 0
        var wrongPINs: UInt64 = 0
        var streams = 0
        var deliveries: UInt64 = 0
        var cutOff: UInt64 = 0
        var connections = 0
    }

    private let state = Mutex(State())

    func answered(route: String, status: Int, seconds: Double) {
        state.withLock {
            $0.answers[Answer(route: route, status: status), default: 0] += 1
            $0.requestTimes[route, default: Histogram()].add(seconds)
        }
    }

    func refused(by limit: String) { state.withLock { $0.refusals[limit, default: 0] += 1 } }
    func wrote(records: Int) { state.withLock { $0.recordsWritten += UInt64(records) } }
    func wrongPIN() { state.withLock { $0.wrongPINs += 1 } }
    func streamOpened() { state.withLock { $0.streams += 1 } }
    func streamEnded() { state.withLock { $0.streams -= 1 } }
    func delivered(_ count: Int) { state.withLock { $0.deliveries += UInt64(count) } }
    func streamCutOff() { state.withLock { $0.cutOff += 1 } }
    func connectionOpened() { state.withLock { $0.connections += 1 } }
    func connectionClosed() { state.withLock { $0.connections -= 1 } }
    func pushed(_ outcome: String) { state.withLock { $0.pushes[outcome, default: 0] += 1 } }

    var openStreams: Int { state.withLock { $0.streams } }

    /// Runs a call to the store and records its duration.
    func timing<Result>(
        _ operation: String, isolation: isolated (any Actor)? = #isolation, _ call: () async throws -> Result
    ) async rethrows -> Result {
        let start = ContinuousClock.now
        defer {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            state.withLock { $0.storeTimes[operation, default: Histogram()].add(seconds) }
        }
        return try await call()
    }

    /// Prometheus' text format, version 0.0.4.
    func text() -> String {
        let state = state.withLock { $0 }
        var page = MetricsPage()
        page.counter(
            "requests_total", "Requests by route and status.",
            state.answers.map { ("route=\"\($0.route)\",status=\"\($0.status)\"", Double($1)) })
        page.head("request_seconds", "histogram", "Time until the answer begins.")
        for (route, histogram) in state.requestTimes.sorted(by: { $0.key < $1.key }) {
            page.histogram("request_seconds", "route=\"\(route)\"", histogram.counts, histogram.sum)
        }
        page.head("store_seconds", "histogram", "Time of calls to the store.")
        for (operation, histogram) in state.storeTimes.sorted(by: { $0.key < $1.key }) {
            page.histogram("store_seconds", "operation=\"\(operation)\"", histogram.counts, histogram.sum)
        }
        page.gauge("streams", "Open streams.", Double(state.streams))
        page.gauge("connections", "Open connections.", Double(state.connections))
        page.counter("stream_writes_total", "Writes to streams.", [("", Double(state.deliveries))])
        page.counter("streams_cut_off_total", "Streams disconnected as too slow.", [("", Double(state.cutOff))])
        page.counter("records_written_total", "Records written.", [("", Double(state.recordsWritten))])
        page.counter("wrong_pins_total", "Wrong PINs.", [("", Double(state.wrongPINs))])
        page.counter(
            "pushes_total", "Pushes by outcome.", state.pushes.map { ("outcome=\"\($0)\"", Double($1)) })
        page.counter(
            "refused_total", "Requests over a limit.", state.refusals.map { ("limit=\"\($0)\"", Double($1)) })
        if let bytes = Self.residentBytes() { page.gauge("resident_memory_bytes", "Resident memory.", Double(bytes)) }
        return page.text
    }

    /// From proc(5), in bytes.
    static func residentBytes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}

/// Lines of Prometheus' text format with a common prefix of the names.
struct MetricsPage {
    private(set) var text = ""

    mutating func head(_ name: String, _ type: String, _ help: String) {
        text += "# HELP applocker_hub_\(name) \(help)\n# TYPE applocker_hub_\(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: String, _ value: Double) {
        let shown = value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
        text += "applocker_hub_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(shown)\n"
    }

    mutating func counter(_ name: String, _ help: String, _ values: [(String, Double)]) {
        head(name, "counter", help)
        for (labels, value) in values.sorted(by: { $0.0 < $1.0 }) { line(name, labels, value) }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        head(name, "gauge", help)
        line(name, "", value)
    }

    mutating func histogram(_ name: String, _ labels: String, _ counts: [UInt64], _ sum: Double) {
        var total: UInt64 = 0
        for (count, bound) in zip(counts, HubMetrics.bounds.map { "\($0)" } + ["+Inf"]) {
            total += count
            line(name + "_bucket", labels + ",le=\"\(bound)\"", Double(total))
        }
        line(name + "_sum", labels, sum)
        line(name + "_count", labels, Double(total))
    }
}
