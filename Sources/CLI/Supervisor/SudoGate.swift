import CLinux
import Foundation
import Synchronization

/// The gate of a user who is not root: `sudo` starts this program again as `hold-gate`, which holds the launches.
///
/// Standard input of that process is a pipe from this one: the line `end` stops it in order, and a pipe that closes
/// without it leaves the gate denying.
final class SudoGate: Sendable {
    /// Shared with the threads that start and read the child.
    private final class Link: Sendable {
        struct State {
            /// The writing end of the child's standard input.
            var orders: Int32 = -1
            var isHolding = false
            /// Whether the first start has succeeded or failed.
            var isDecided = false
        }
        let state = Mutex(State())

        deinit { state.withLock { if $0.orders >= 0 { close($0.orders) } } }
    }

    private let link: Link
    private let process: SupervisedProcess

    /// Runs sudo, which may ask for the user's password on the terminal, and waits for the gate or a refusal. Nil if
    /// sudo is missing or refuses, or the kernel does not hold launches: sudo and the holder have then printed why.
    static func start(
        sudo: String, command: HoldGateCommand, applocker: String, report: @escaping @Sendable (String) -> Void
    ) async -> SudoGate? {
        let gate = SudoGate(sudo: sudo, command: command, applocker: applocker, report: report)
        // Typing the password has no time limit; Ctrl-C ends sudo and so the wait.
        while !gate.link.state.withLock({ $0.isDecided }) { try? await Task.sleep(for: .milliseconds(10)) }
        return gate.link.state.withLock { $0.isHolding } ? gate : nil
    }

    private init(
        sudo: String, command: HoldGateCommand, applocker: String, report: @escaping @Sendable (String) -> Void
    ) {
        let link = Link()
        self.link = link
        process = SupervisedProcess(
            .init(
                name: "gate's holder", policy: .daemon,
                launch: { () throws(SupervisorError) in
                    let isFirst = !link.state.withLock { $0.isDecided }
                    // A password is asked for only at the first start, and only on a terminal.
                    let asks = isFirst && isatty(STDIN_FILENO) == 1
                    return try Self.launch(
                        sudo, (asks ? [] : ["-n"]) + ["--", applocker] + command.arguments, link: link)
                },
                isReady: { link.state.withLock { $0.isHolding } },
                ended: { link.state.withLock { $0.isDecided = true } },
                startsAgain: { _ in link.state.withLock { $0.isHolding } }),
            report: report)
    }

    private static func launch(_ sudo: String, _ arguments: [String], link: Link) throws(SupervisorError) -> pid_t {
        let input = try makePipe()
        let output = try makePipe()
        let child = ChildLaunch(
            executable: sudo, arguments: arguments, environment: ProcessInfo.processInfo.environment,
            standardDescriptors: [input.read, output.write, STDERR_FILENO],
            hasOwnProcessGroup: false)  // sudo may have to ask at the terminal
        defer {
            close(input.read)
            close(output.write)
        }
        do throws(SupervisorError) {
            let pid = try child.start()
            link.state.withLock {
                if $0.orders >= 0 { close($0.orders) }
                $0.orders = input.write
            }
            readWords(from: output.read, link: link)
            return pid
        } catch {
            close(input.write)
            close(output.read)
            throw error
        }
    }

    private static func makePipe() throws(SupervisorError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let failure = clinux_pipe(&ends)
        guard failure == 0 else { throw SupervisorError(.processStart, "Cannot create a pipe.", cause: failure) }
        return (ends[0], ends[1])
    }

    private static func readWords(from descriptor: Int32, link: Link) {
        Thread.detachNewThread {
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 256)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                if count <= 0 { break }
                text = (text + buffer[..<count]).suffix(1024)
                let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
                if lines.contains(where: { $0 == HoldGateCommand.holdingWord }) {
                    link.state.withLock {
                        $0.isHolding = true
                        $0.isDecided = true
                    }
                }
            }
            close(descriptor)
        }
    }

    /// Ends the gate in order; locked apps start without a prompt from then on.
    func stop() async {
        let word = Array((HoldGateCommand.endWord + "\n").utf8)
        link.state.withLock { _ = write($0.orders, word, word.count) }
        await process.stop(grace: .seconds(10), isAsked: true)
    }
}
