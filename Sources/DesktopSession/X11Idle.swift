import CXss
import Dispatch
import WireProtocol

/// The X server's screen-saver extension. It tells nothing by itself: it is asked when the time could have been reached,
/// and sleeps until then.
actor X11Idle: IdleSource {
    /// How often the server is asked while somebody's return matters right now, which is only while a warning shows.
    static let attention: Duration = .seconds(1)

    nonisolated let kind = IdleReport.Source.xscreensaver
    /// Xlib blocks, and wants one thread at a time.
    private let queue = SerialQueue(label: "x11-idle")
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    private let name: String
    private var connection: Connection?

    /// Connects with the first question. When the X server ends, Xlib ends this process with it.
    ///
    /// - Parameter display: as in DISPLAY.
    init(display name: String) { self.name = name }

    /// - Throws: `IdleSourceGone` where there is no such display or it lacks the extension.
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

/// Xlib's own things, released with the last use.
private final class Connection {
    private let display: OpaquePointer
    private let answer: UnsafeMutablePointer<XScreenSaverInfo>

    init(_ name: String) throws(IdleSourceGone) {
        guard let display = XOpenDisplay(name) else {
            throw IdleSourceGone(description: "The X display \(name) can't be reached.")
        }
        var event: Int32 = 0
        var error: Int32 = 0
        guard XScreenSaverQueryExtension(display, &event, &error) != 0, let answer = XScreenSaverAllocInfo() else {
            XCloseDisplay(display)
            throw IdleSourceGone(description: "The X display \(name) has no screen-saver extension.")
        }
        self.display = display
        self.answer = answer
    }

    deinit {
        XFree(answer)
        XCloseDisplay(display)
    }

    func idleTime() throws(IdleSourceGone) -> Duration {
        guard XScreenSaverQueryInfo(display, XDefaultRootWindow(display), answer) != 0 else {
            throw IdleSourceGone(description: "The X server gave no idle time.")
        }
        return .milliseconds(answer.pointee.idle)
    }
}

/// Runs an actor on a dispatch queue, where it may block.
private final class SerialQueue: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
