import Foundation
import MomentTransfer
import Synchronization

/// One progress bar for several files. It may be updated from any thread.
final class FileProgress: Sendable {
    private struct State {
        var bar: ProgressBar
        /// Bytes of the finished files.
        var before: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Parameter total: of all files, in bytes.
    init(_ label: String, total: UInt64, isShown: Bool) {
        state = Mutex(State(bar: ProgressBar(label, total: total, isShown: isShown)))
    }

    /// - Parameter done: of the current file, in bytes.
    func show(_ done: UInt64) {
        state.withLock { state in
            let before = state.before
            state.bar.show(before + done)
        }
    }

    /// The file is finished, successfully or not.
    func finish(_ size: UInt64) { state.withLock { $0.before += size } }

    func end() { state.withLock { $0.bar.end() } }
}

/// A progress bar for each phase of a transfer, one after another.
final class PhaseBar: Sendable {
    private struct State {
        var phase: TransferProgress.Phase?
        var bar: ProgressBar?
    }

    private let isShown: Bool
    private let state = Mutex(State())

    init(isShown: Bool) { self.isShown = isShown }

    func show(_ progress: TransferProgress) {
        state.withLock { state in
            if state.phase != progress.phase {
                state.bar?.end()
                state.phase = progress.phase
                state.bar = ProgressBar(Self.label(progress.phase), total: progress.total, isShown: isShown)
            }
            state.bar?.show(progress.done)
        }
    }

    func end() {
        state.withLock { state in
            state.bar?.end()
            (state.bar, state.phase) = (nil, nil)
        }
    }

    private static func label(_ phase: TransferProgress.Phase) -> String {
        switch phase {
        case .scanning: "Scanning"
        case .importing: "Importing"
        case .comparing: "Comparing"
        case .exporting: "Exporting"
        }
    }
}

/// Sizes for people, in powers of 1024.
enum SizeText {
    static func spoken(_ bytes: UInt64) -> String {
        var size = Double(bytes)
        for unit in ["bytes", "KiB", "MiB", "GiB"] {
            if size < 1000 || unit == "GiB" {
                return unit == "bytes"
                    ? (bytes == 1 ? "1 byte" : "\(bytes) bytes")
                    : String(format: "%.\(size < 10 ? 1 : 0)f \(unit)", size)
            }
            size /= 1024
        }
        return "\(bytes) bytes"
    }
}
