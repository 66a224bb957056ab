import BlockingThread
import DBus
import Foundation

/// Detects whether the screen is being recorded. It polls, and notices nothing between two polls.
///
/// Recorders are found by their processes, shared screens by the streams of GNOME's compositor and of PipeWire. A
/// recorder with another process name or of another user, and a camera in front of the screen, are not found.
public actor CaptureWatch {
    /// The interval while something private is shown.
    public static let period: Duration = .seconds(2)

    static let casts = "org.gnome.Mutter.ScreenCast"

    private let user: uid_t
    private let address: DBusConnection.Address
    private let pipeWire: PipeWireCasts
    private var bus: DBusConnection?
    /// False after a failed connection: a missing session bus isn't looked for again.
    private var hasBus = true

    /// Inspects the processes of this process' user and its session bus.
    public init() { self.init(user: getuid(), address: .session) }

    init(user: uid_t, address: DBusConnection.Address, pipeWire: PipeWireCasts = PipeWireCasts()) {
        self.pipeWire = pipeWire
        self.user = user
        self.address = address
    }

    /// Everything that records now, certain recorders first.
    public func look() async -> [ScreenCapture] {
        let (user, pipeWire) = (user, pipeWire)
        let (processes, casts) = await runBlocking { (Self.recorders(of: user), pipeWire.count()) }
        let streams = await streamCount() + casts
        let shared = ScreenCapture(recorder: ScreenCapture.sharing, isCertain: true)
        return processes.filter(\.isCertain) + (streams > 0 ? [shared] : []) + processes.filter { !$0.isCertain }
    }

    /// The recorders, and each change of them, until the stream's reader ends.
    public nonisolated func captures(every period: Duration = CaptureWatch.period) -> AsyncStream<[ScreenCapture]> {
        AsyncStream { continuation in
            let task = Task {
                var last: [ScreenCapture]?
                while !Task.isCancelled {
                    let now = await self.look()
                    if now != last { continuation.yield(now) }
                    last = now
                    try? await Task.sleep(for: period)
                }
                await self.disconnect()
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func disconnect() {
        bus?.close()
        bus = nil
    }

    /// The number of the compositor's screen-cast sessions, from its D-Bus introspection: portal, remote desktop and
    /// GNOME's recorder all create one.
    private func streamCount() async -> Int {
        guard hasBus else { return 0 }
        do {
            let bus = try bus ?? DBusConnection(address)
            self.bus = bus
            guard try await bus.owner(of: Self.casts) != nil else { return 0 }
            let answer = try await bus.call(
                Self.casts, "/org/gnome/Mutter/ScreenCast/Session", "org.freedesktop.DBus.Introspectable", "Introspect",
                timeout: .seconds(2))
            return (answer.first?.text ?? "").components(separatedBy: "<node name=").count - 1
        } catch let error as BusError where error.code == .unreachable {
            hasBus = false
            return 0
        } catch let error as BusError where error.code == .closed {
            bus = nil
            return 0
        } catch {
            // The object is missing until the first session is opened.
            return 0
        }
    }

    /// Reads /proc. Blocks for some milliseconds: call it on a thread of its own.
    static func recorders(of user: uid_t) -> [ScreenCapture] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        var found: [ScreenCapture] = []
        for process in entries.lazy.compactMap(Int32.init) {
            var status = stat()
            guard stat("/proc/\(process)", &status) == 0, status.st_uid == user,
                let executable = executable(of: process)
            else { continue }
            let arguments = (contents("/proc/\(process)/cmdline") ?? "").split(separator: "\0").dropFirst()
            if let capture = RecorderList.capture(executable: executable, arguments: arguments.map(String.init)),
                !found.contains(capture)
            {
                found.append(capture)
            }
        }
        return found
    }

    /// The last part of the executable's path, or the command name if the path can't be read.
    private static func executable(of process: Int32) -> String? {
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe") {
            return path.split(separator: "/").last.map(String.init)
        }
        return contents("/proc/\(process)/comm")?.trimmingCharacters(in: .newlines)
    }

    private static func contents(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
