import Dispatch
import HostIntegrity
import Household

/// What this computer's tests of itself found, as other devices are shown it.
enum HostReadings {
    /// They read files and block.
    private static let queue = DispatchQueue(label: "host", qos: .utility)

    static func findings() async -> [IntegrityFinding] {
        await withCheckedContinuation { continuation in
            queue.async {
                // The service's system call filter forbids asking about the clock: nothing is known to be weak.
                let readings = HostInspection().readings().filter { $0.id != .clock || $0.state != .unknown }
                continuation.resume(returning: readings.map(IntegrityFinding.init))
            }
        }
    }
}

extension IntegrityFinding {
    fileprivate init(_ finding: HostFinding) {
        let state: State =
            switch finding.state {
            case .ok: .ok
            case .degraded: finding.underminesAll ? .problem : .warning
            case .unknown: .warning
            }
        self.init(id: finding.id.rawValue, title: finding.id.title, state: state, sentence: finding.sentence)
    }
}
