import CSystemd
import Glibc
import Synchronization

/// A connection to a D-Bus message bus.
///
/// Each connection has one thread, which sleeps while nothing happens. A connection that is gone stays gone: calls
/// throw `BusError` with `closed`, streams end, and `untilEnd()` returns; callers open another one.
public final class DBusConnection: Sendable {
    public enum Address: Sendable {
        /// DBUS_SYSTEM_BUS_ADDRESS, or the system's own.
        case system
        /// DBUS_SESSION_BUS_ADDRESS, or $XDG_RUNTIME_DIR/bus.
        case session
        /// As in DBus' "Server Addresses": "unix:path=/run/...".
        case address(String)
    }

    let connection: BusConnection

    /// Connects; the greeting is exchanged behind the first call.
    ///
    /// - Throws: `BusError` with `unreachable`.
    public init(_ address: Address) throws {
        var bus: OpaquePointer?
        let result =
            switch address {
            case .system: sd_bus_open_system(&bus)
            case .session: sd_bus_open_user(&bus)
            case .address(let text): Self.open(&bus, at: text)
            }
        guard result >= 0, let bus else {
            if let bus { sd_bus_unref(bus) }
            throw BusError(errno: result, "The message bus can't be reached", .unreachable)
        }
        connection = try BusConnection(bus: bus)
    }

    deinit { connection.close() }

    private static func open(_ bus: inout OpaquePointer?, at address: String) -> Int32 {
        var result = sd_bus_new(&bus)
        if result >= 0 { result = sd_bus_set_address(bus, address) }
        if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
        if result >= 0 { result = sd_bus_negotiate_fds(bus, 1) }
        if result >= 0 { result = sd_bus_start(bus) }
        return result
    }

    /// Sends what is queued and disconnects. Everybody who waits for an answer gets `closed`.
    public func close() { connection.close() }

    public var isOpen: Bool { !connection.hasEnded }

    /// Returns when the connection has ended, whichever side ended it.
    public func untilEnd() async { await connection.untilEnd() }

    // MARK: Calls

    /// Calls a method and waits for its answer.
    ///
    /// - Parameter timeout: none is D-Bus' customary 25 s.
    /// - Returns: the answer's values.
    /// - Throws: `BusError`: `refused` with the name of the returned error, `timedOut`, `closed` or `invalid`.
    @discardableResult
    public func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration? = nil
    ) async throws -> [BusValue] {
        try await reply { context, reply in
            var pointer: OpaquePointer?
            let made = sd_bus_message_new_method_call(context.bus, &pointer, destination, path, interface, member)
            guard made >= 0, let pointer else {
                throw BusError(errno: made, "\(interface).\(member) can't be called", .invalid)
            }
            defer { sd_bus_message_unref(pointer) }
            try BusMessage(pointer: pointer).append(arguments)
            let limit = timeout.map { UInt64(max(1, $0 / .microseconds(1))) } ?? 0
            try reply.await(in: context) { slot, userdata in
                sd_bus_call_async(context.bus, &slot, pointer, Reply.thunk, userdata, limit)
            }
        }
    }

    /// Runs a job on the connection's thread.
    ///
    /// - Parameter job: finishes the reply, now or later, or throws.
    /// - Throws: `BusError` with `closed`, or what the job throws.
    func reply(
        _ job: @escaping @Sendable (BusContext, Reply) throws -> Void
    ) async throws -> [BusValue] {
        try await withCheckedThrowingContinuation { continuation in
            let reply = Reply { continuation.resume(with: $0) }
            let isOpen = connection.enqueue { context in
                do {
                    try job(context, reply)
                } catch {
                    reply.finish(.failure(error))
                }
            }
            if !isOpen { reply.finish(.failure(BusError.closed)) }
        }
    }

    /// One property, without the variant around it.
    ///
    /// - Throws: as `call`.
    public func property(_ destination: String, _ path: String, _ interface: String, _ name: String) async throws
        -> BusValue
    {
        let values = try await call(
            destination, path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(name)])
        guard let value = values.first else { throw BusError(.invalid, "\(interface).\(name) has no value.") }
        return value.content
    }

    /// All properties of an interface, without the variants around them.
    ///
    /// - Throws: as `call`.
    public func properties(_ destination: String, _ path: String, _ interface: String) async throws -> [String:
        BusValue]
    {
        let values = try await call(
            destination, path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)])
        guard let options = values.first?.options else {
            throw BusError(.invalid, "The properties of \(interface) have an unexpected type.")
        }
        return options
    }

    // MARK: Names

    private static let bus = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"

    /// The connection's own name, as in ":1.42".
    ///
    /// - Throws: `BusError` with `closed`.
    public func uniqueName() async throws -> String {
        // Answered only after the greeting, which brings the name.
        try await call(Self.bus, Self.busPath, Self.bus, "GetId")
        return try await reply { context, reply in
            var name: UnsafePointer<CChar>?
            guard sd_bus_get_unique_name(context.bus, &name) >= 0, let name else { throw BusError.closed }
            reply.finish(.success([.string(String(cString: name))]))
        }.first?.text ?? ""
    }

    /// The unique name that owns a well-known one; nil if it has no owner.
    ///
    /// - Throws: as `call`.
    public func owner(of name: String) async throws -> String? {
        do {
            return try await call(Self.bus, Self.busPath, Self.bus, "GetNameOwner", [.string(name)]).first?.text
        } catch let error as BusError where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {
            return nil
        }
    }

    /// Owns a well-known name until the connection ends; neither queues for it nor allows replacement.
    ///
    /// - Throws: `BusError` with `nameTaken`, or as `call`.
    public func own(_ name: String) async throws {
        let doNotQueue: UInt32 = 4
        let answer = try await call(
            Self.bus, Self.busPath, Self.bus, "RequestName", [.string(name), .uint32(doNotQueue)])
        guard let outcome = answer.first?.integer, outcome == 1 || outcome == 4 else {
            throw BusError(.nameTaken, "The name \(name) belongs to another program.")
        }
    }

    /// Every change of a name's owner from now on; nil if it has no owner. The stream ends with the connection.
    ///
    /// - Throws: as `call`.
    public func owners(of name: String) async throws -> AsyncStream<String?> {
        let changes = try await signals(
            from: Self.bus, path: Self.busPath, interface: Self.bus, member: "NameOwnerChanged", firstArgument: name)
        return AsyncStream { continuation in
            let task = Task {
                for await change in changes {
                    guard change.arguments.count == 3, let owner = change.arguments[2].text else { continue }
                    continuation.yield(owner.isEmpty ? nil : owner)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

/// The answer to one call or match.
final class Reply: Sendable {
    private let finishing: Mutex<(@Sendable (Result<[BusValue], any Error>) -> Void)?>

    init(_ finish: @escaping @Sendable (Result<[BusValue], any Error>) -> Void) { finishing = Mutex(finish) }

    func finish(_ result: Result<[BusValue], any Error>) {
        let finish = finishing.withLock { finishing in
            defer { finishing = nil }
            return finishing
        }
        finish?(result)
    }

    /// Starts something whose answer comes to `thunk`, and keeps this value for it until the slot is gone.
    ///
    /// - Throws: `BusError` with `invalid` or `closed`.
    func await(
        in context: BusContext, _ start: (inout OpaquePointer?, UnsafeMutableRawPointer) -> Int32
    ) throws {
        let number = context.nextNumber()
        let pending = PendingReply(reply: self, context: context, number: number)
        let userdata = Unmanaged.passRetained(pending).toOpaque()
        var slot: OpaquePointer?
        let result = start(&slot, userdata)
        guard result >= 0, let slot else {
            Unmanaged<PendingReply>.fromOpaque(userdata).release()
            throw BusError(
                errno: result, "The message bus did not accept a call", result == -ENOTCONN ? .closed : .invalid)
        }
        sd_bus_slot_set_destroy_callback(slot) { userdata in
            if let userdata { Unmanaged<PendingReply>.fromOpaque(userdata).release() }
        }
        context.slots[number] = slot
        context.pending[number] = { self.finish(.failure($0)) }
    }

    /// The argument of a C callback.
    private final class PendingReply {
        let reply: Reply
        unowned let context: BusContext
        let number: UInt64

        init(reply: Reply, context: BusContext, number: UInt64) {
            self.reply = reply
            self.context = context
            self.number = number
        }
    }

    static let thunk:
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?)
            -> Int32 = { message, userdata, _ in
                guard let message, let userdata else { return 0 }
                let pending = Unmanaged<PendingReply>.fromOpaque(userdata).takeUnretainedValue()
                pending.reply.finish(
                    Result {
                        if let error = sd_bus_message_get_error(message) { throw BusError(reply: error) }
                        return try BusMessage(pointer: message).read()
                    })
                pending.context.release(pending.number)
                return 0
            }
}
