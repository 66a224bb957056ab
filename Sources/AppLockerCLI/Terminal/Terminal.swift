import Foundation

/// The controlling terminal, /dev/tty, as opened for one question or several. Its calls block: use them on a thread of
/// their own.
///
/// @unchecked Sendable: whoever asks calls from one thread after the other, never from two at a time.
final class Terminal: @unchecked Sendable {
    private let descriptor: Int32
    /// Keys are unseen, now and between questions.
    private var isHeld = false

    /// The code of the error where there is no terminal.
    static let missing = "no_terminal"

    /// - Throws: `CommandLineError` where this process has no terminal.
    private init() throws {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandLineError(
                .usage, code: Self.missing,
                "There is no terminal to ask for the passcode on; use --passcode-fd, as in --passcode-fd 3 3<file.")
        }
    }

    deinit {
        release()
        close(descriptor)
    }

    /// Opens the terminal and hides what is typed until `release`: between questions, too. What was typed while an
    /// answer was looked at goes to the next question.
    ///
    /// - Throws: `CommandLineError` where there is no terminal.
    static func hold() throws -> Terminal {
        let terminal = try Terminal()
        try terminal.hideKeys()
        return terminal
    }

    /// Shows keys again; what was typed and not read is thrown away.
    func release() {
        guard isHeld else { return }
        isHeld = false
        RestoredTerminal.restore()
    }

    static func withControlling<Result>(_ body: (Terminal) throws -> Result) throws -> Result {
        try body(Terminal())
    }

    func write(_ text: String) { Output(descriptor: descriptor).write(text) }

    /// Asks for one line without showing it.
    ///
    /// - Parameters:
    ///   - question: shown in front; asked for again every second, so that it can count down.
    ///   - cancel: a descriptor; the question ends when it becomes readable or is closed at its other end.
    /// - Returns: nil for Ctrl-D on an empty line, a hung-up terminal, or `cancel`.
    /// - Throws: `CommandLineError` where the terminal can't be set up.
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

    /// Asks for one key, without waiting for a line end.
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

    /// Sends what terminals answer by themselves, ending with their device attributes (DA1), and reads the answer.
    ///
    /// - Returns: what came in time; nothing where it is no terminal that answers.
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

    /// Switches echo and line editing off for `body`, and back on after it, a signal's end of the process included.
    private func withKeysUnseen<Result>(_ body: () throws -> Result) throws -> Result {
        if isHeld { return try body() }
        try hideKeys()
        defer { release() }
        return try body()
    }

    private func hideKeys() throws {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else {
            throw CommandLineError(
                .usage, code: Self.missing,
                "The terminal can't be set up (\(String(cString: strerror(errno)))); use --passcode-fd.")
        }
        var unseen = before
        unseen.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL | ICANON)
        // Ctrl-Z would stop this process with the terminal as it is now.
        withUnsafeMutableBytes(of: &unseen.c_cc) { keys in
            keys[Int(VSUSP)] = 0
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        RestoredTerminal.keep(descriptor, before)
        // Flushed before: what was typed ahead is no passcode.
        guard tcsetattr(descriptor, TCSAFLUSH, &unseen) == 0 else {
            RestoredTerminal.restore()
            throw CommandLineError(
                .usage, code: Self.missing,
                "The terminal can't be set up (\(String(cString: strerror(errno)))); use --passcode-fd.")
        }
        isHeld = true
    }
}

/// What a signal handler needs to put the terminal back: globals, because a handler is handed nothing.
private enum RestoredTerminal {
    /// Written by the one thread that asks, before the handlers are in place and after they are gone.
    nonisolated(unsafe) private static var settings = termios()
    nonisolated(unsafe) private static var descriptor: Int32 = -1
    nonisolated(unsafe) private static var handlersBefore: [(signal: Int32, action: sigaction)] = []
    private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// One question at a time: two would overwrite each other's settings.
    private static let turn = DispatchSemaphore(value: 1)

    static func keep(_ descriptor: Int32, _ settings: termios) {
        turn.wait()
        self.descriptor = descriptor
        self.settings = settings
        var action = sigaction()
        // Only functions that signal-safety(7) lists run here.
        action.__sigaction_handler.sa_handler = { number in
            tcsetattr(RestoredTerminal.descriptor, TCSANOW, &RestoredTerminal.settings)
            signal(number, SIG_DFL)
            raise(number)
        }
        for number in endingSignals {
            var before = sigaction()
            sigaction(number, nil, &before)
            // A signal that the starter switched off (nohup) stays off.
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
