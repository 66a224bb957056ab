import CXss
import ControlAPI
import Dispatch

/// The X server's screen-saver extension. It sends no signal: it is queried when the time could have been reached, with
/// sleep until then.
actor X11Idle: IdleSource {
    /// The polling interval for new input, used only while a warning is shown.
    static let attention: Duration = .seconds(1)

    nonisolated let kind = IdleReport.Source.xscreensaver
    /// Xlib blocks, and must be used by one thread at a time.
    private let queue = SerialQueue(label: "x11-idle")
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    private let name: String
    private var connection: Connection?

    /// Connects with the first query. When the X server ends, Xlib ends this process.
    ///
    /// - Parameter display: as in DISPLAY.
    init(display name: String) { self.name = name }

    /// - Throws: `IdleSourceUnavailable` if there is no such display or it lacks the extension.
    func idleTime() throws -> Duration {
        let connection = try connection ?? Connection(name)
        self.connection = connection
        return try connection.idleTime()
    }

    func untilIdle(for time: Duration) async throws {
        let idle = try idleTime()
        if idle < time { try await Task.sleep(for: time - idle) }
    }

    func untilTouched() async throws {
        var before = try idleTime()
        var isBack = false
        while !isBack {
            try await Task.sleep(for: Self.attention)
            let idle = try idleTime()
            isBack = idle < before
            before = idle
        }
    }
}

/// Xlib's objects, released with the last use.
private final class Connection {
    private let display: OpaquePointer
    private let answer: UnsafeMutablePointer<XScreenSaverInfo>

    init(_ name: String) throws(IdleSourceUnavailable) {
        guard let display = XOpenDisplay(name) else {
            throw IdleSourceUnavailable(description: "The X display \(name) can't be reached.")
        }
        var event: Int32 = 0
        var error: Int32 = 0
        guard XScreenSaverQueryExtension(display, &event, &error) != 0, let answer = XScreenSaverAllocInfo() else {
            XCloseDisplay(display)
            throw IdleSourceUnavailable(description: "The X display \(name) has no screen-saver extension.")
        }
        self.display = display
        self.answer = answer
    }

    deinit {
        XFree(answer)
        XCloseDisplay(display)
    }

    func idleTime() throws(IdleSourceUnavailable) -> Duration {
        guard XScreenSaverQueryInfo(display, XDefaultRootWindow(display), answer) != 0 else {
            throw IdleSourceUnavailable(description: "The X server returned no idle time.")
        }
        return .milliseconds(answer.pointee.idle)
    }
}

/// Runs an actor on a dispatch queue, which may block.
private final class SerialQueue: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
