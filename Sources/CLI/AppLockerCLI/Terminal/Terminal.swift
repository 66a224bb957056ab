import Foundation

/// The controlling terminal, /dev/tty, opened for one or several prompts. Its calls block: use them on a thread of
/// their own.
///
/// @unchecked Sendable: callers may use several threads, but never two at a time.
final class Terminal: @unchecked Sendable {
    private let descriptor: Int32
    /// Whether echo is off, also between prompts.
    private var isHeld = false

    /// The error code if there is no terminal.
    static let missing = "no_terminal"

    /// - Throws: `CommandLineError` if this process has no terminal.
    private init() throws {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandLineError(
                .usage, code: Self.missing,
                "There is no terminal for the passcode; use --passcode-fd, as in --passcode-fd 3 3<file.")
        }
    }

    deinit {
        release()
        close(descriptor)
    }

    /// Opens the terminal and switches echo off until `release`, also between prompts. Keys typed while an answer is
    /// being checked belong to the next prompt.
    ///
    /// - Throws: `CommandLineError` if there is no terminal.
    static func hold() throws -> Terminal {
        let terminal = try Terminal()
        try terminal.hideKeys()
        return terminal
    }

    /// Switches echo on again, and discards unread keys.
    func release() {
        guard isHeld else { return }
        isHeld = false
        RestoredTerminal.restore()
    }

    static func withControlling<Result>(_ body: (Terminal) throws -> Result) throws -> Result {
        try body(Terminal())
    }

    func write(_ text: String) { Output(descriptor: descriptor).write(text) }

    /// Reads one line without echo.
    ///
    /// - Parameters:
    ///   - question: the prompt; evaluated again every second, so that it can count down.
    ///   - cancel: a descriptor; the prompt ends when it becomes readable or its other end is closed.
    /// - Returns: nil for Ctrl-D on an empty line, a hung-up terminal, or `cancel`.
    /// - Throws: `CommandLineError` if the terminal can't be set up.
    func readSecret(question: @autoclosure () -> String, cancel: Int32 = -1) throws -> Passcode? {
        try withKeysUnseen {
            let passcode = Passcode()
            var shown = question()
            write(shown)
            defer { write("\n") }
            while true {
                switch key(cancel: cancel, timeout: .seconds(1)) {
                case .none:
                    let next = question()
                    if next != shown { write("\r\u{1B}[K" + next) }
                    shown = next
                case .ended:
                    return nil
                case .byte(0x04) where passcode.isEmpty:  // Ctrl-D
                    return nil
                case .byte(0x0A), .byte(0x0D):
                    return passcode
                case .byte(0x7F), .byte(0x08):
                    passcode.removeLastCharacter()
                case .byte(0x15):  // Ctrl-U
                    passcode.wipe()
                case .byte(let byte) where byte >= 0x20:
                    guard passcode.append(byte) else {
                        throw CommandLineError(
                            .usage, code: "passcode_too_long",
                            "The passcode is longer than \(Passcode.maximumBytes) bytes.")
                    }
                case .byte:
                    break
                }
            }
        }
    }

    /// Reads one key, without waiting for a line end.
    ///
    /// - Returns: nil for Ctrl-D, a hung-up terminal, or `cancel`.
    func readKey(question: String, cancel: Int32 = -1) throws -> UInt8? {
        try withKeysUnseen {
            write(question)
            while true {
                switch key(cancel: cancel, timeout: .seconds(1)) {
                case .none: continue
                case .ended, .byte(0x04):
                    write("\n")
                    return nil
                case .byte(let byte):
                    write(byte > 0x20 && byte < 0x7F ? String(UnicodeScalar(byte)) + "\n" : "\n")
                    return byte
                }
            }
        }
    }

    /// Sends a request to the terminal that ends with a query of its device attributes (DA1), and reads the reply.
    ///
    /// - Returns: what arrived in time; empty if the terminal doesn't reply.
    func answer(to request: String, within limit: Duration) throws -> [UInt8] {
        try withKeysUnseen {
            write(request)
            var answer: [UInt8] = []
            let deadline = ContinuousClock.now + limit
            while ContinuousClock.now < deadline, answer.count < 4_096 {
                switch key(cancel: -1, timeout: .milliseconds(50)) {
                case .none: continue
                case .ended: return answer
                case .byte(let byte):
                    answer.append(byte)
                    if byte == UInt8(ascii: "c"), String(decoding: answer, as: UTF8.self).contains("\u{1B}[?") {
                        return answer
                    }
                }
            }
            return answer
        }
    }

    private enum Key {
        case none, ended
        case byte(UInt8)
    }

    private func key(cancel: Int32, timeout: Duration) -> Key {
        var waits = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if cancel >= 0 { waits.append(pollfd(fd: cancel, events: Int16(POLLIN), revents: 0)) }
        let milliseconds = Int32(timeout / .milliseconds(1))
        let ready = poll(&waits, nfds_t(waits.count), milliseconds)
        if ready < 0 { return errno == EINTR ? .none : .ended }
        if waits.count > 1, waits[1].revents != 0 { return .ended }
        guard waits[0].revents != 0 else { return .none }
        var byte: UInt8 = 0
        defer { byte = 0 }
        let count = read(descriptor, &byte, 1)
        if count < 0, errno == EINTR { return .none }
        return count == 1 ? .byte(byte) : .ended
    }

    /// Switches echo and line editing off for `body`, and on again after it, also when a signal ends the process.
    private func withKeysUnseen<Result>(_ body: () throws -> Result) throws -> Result {
        if isHeld { return try body() }
        try hideKeys()
        defer { release() }
        return try body()
    }

    private func hideKeys() throws {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { throw Self.notConfigured() }
        var unseen = before
        unseen.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL | ICANON)
        // Ctrl-Z would stop this process and leave the terminal in this state.
        withUnsafeMutableBytes(of: &unseen.c_cc) { keys in
            keys[Int(VSUSP)] = 0
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        RestoredTerminal.keep(descriptor, before)
        // Earlier input is flushed: it isn't part of the passcode.
        guard tcsetattr(descriptor, TCSAFLUSH, &unseen) == 0 else {
            RestoredTerminal.restore()
            throw Self.notConfigured()
        }
        isHeld = true
    }

    private static func notConfigured() -> CommandLineError {
        CommandLineError(
            .usage, code: missing,
            "The terminal can't be configured (\(String(cString: strerror(errno)))); use --passcode-fd.")
    }
}

/// The state with which a signal handler restores the terminal: globals, because a handler has no other arguments.
private enum RestoredTerminal {
    /// Written only by the prompting thread, before the handlers are installed and after they are removed.
    nonisolated(unsafe) private static var settings = termios()
    nonisolated(unsafe) private static var descriptor: Int32 = -1
    nonisolated(unsafe) private static var handlersBefore: [(signal: Int32, action: sigaction)] = []
    private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// One prompt at a time: two would overwrite each other's settings.
    private static let turn = DispatchSemaphore(value: 1)

    static func keep(_ descriptor: Int32, _ settings: termios) {
        turn.wait()
        self.descriptor = descriptor
        self.settings = settings
        var action = sigaction()
        // Only functions of the list in signal-safety(7) run here.
        action.__sigaction_handler.sa_handler = { number in
            tcsetattr(RestoredTerminal.descriptor, TCSANOW, &RestoredTerminal.settings)
            signal(number, SIG_DFL)
            raise(number)
        }
        for number in endingSignals {
            var before = sigaction()
            sigaction(number, nil, &before)
            // A signal that the parent process ignores (nohup) stays ignored.
            if number == SIGHUP, isIgnored(before) { continue }
            sigaction(number, &action, nil)
            handlersBefore.append((number, before))
        }
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        withUnsafeBytes(of: action.__sigaction_handler) { $0.loadUnaligned(as: UInt.self) } == 1  // SIG_IGN
    }

    static func restore() {
        tcsetattr(descriptor, TCSAFLUSH, &settings)
        for (number, before) in handlersBefore {
            var action = before
            sigaction(number, &action, nil)
        }
        handlersBefore = []
        descriptor = -1
        turn.signal()
    }
}
