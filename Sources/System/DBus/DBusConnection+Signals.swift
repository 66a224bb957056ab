import CSystemd
import Glibc

/// A signal that arrived.
public struct BusSignal: Sendable {
    /// The sender's unique name, as the bus stamped it.
    public var sender: String
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]
}

extension DBusConnection {
    /// Signals that fit, from the moment this returns.
    ///
    /// - Parameters:
    ///   - sender: nil for any (see `BusSignal.sender`); a unique name; or a well-known name, which
    ///     means who owns it now: the stream ends when that owner leaves. No other program's signal gets into it.
    ///   - firstArgument: only signals whose first argument is this text.
    ///   - accept: called for each signal, on the connection's thread; the stream has those for which it returns true.
    /// - Returns: a stream that ends with the connection. 4,096 signals wait at most; later ones are dropped.
    /// - Throws: `BusError`: `refused` if the name has no owner, `invalid`, `closed`.
    public func signals(
        from sender: String? = nil, path: String? = nil, interface: String? = nil, member: String? = nil,
        firstArgument: String? = nil, accept: @escaping @Sendable (BusSignal) -> Bool = { _ in true }
    ) async throws -> AsyncStream<BusSignal> {
        var unique = sender
        if let name = sender, !name.hasPrefix(":"), name != "org.freedesktop.DBus" {
            guard let owner = try await owner(of: name) else {
                throw BusError(
                    .refused, name: "org.freedesktop.DBus.Error.NameHasNoOwner", "\(name) is not on the bus.")
            }
            unique = owner
        }
        let rule = try Self.rule([
            ("type", "signal"), ("sender", unique), ("path", path), ("interface", interface), ("member", member),
            ("arg0", firstArgument),
        ])
        let (stream, continuation) = AsyncStream<BusSignal>.makeStream(bufferingPolicy: .bufferingOldest(4_096))
        let number = try await match(rule, Subscription(sender: unique, signals: continuation, accept: accept))
        continuation.onTermination = { [connection] _ in connection.enqueue { $0.release(number) } }
        if let name = sender, let unique, name != unique {
            // Looked up after the match, so that an owner that left in between is noticed.
            let changes = try await owners(of: name)
            guard try await owner(of: name) == unique else {
                continuation.finish()
                return stream
            }
            Task {
                for await owner in changes where owner != unique { break }
                continuation.finish()
            }
        }
        return stream
    }

    private static func rule(_ parts: [(String, String?)]) throws -> String {
        try parts.compactMap { key, value in
            guard let value else { return nil }
            guard !value.contains(where: { $0 == "'" || $0 == "\\" || $0 == "\0" }) else {
                throw BusError(.invalid, "A match rule can't contain the text \(value).")
            }
            return "\(key)='\(value)'"
        }.joined(separator: ",")
    }

    private func match(_ rule: String, _ subscription: Subscription) async throws -> UInt64 {
        let values = try await reply { context, reply in
            let number = context.nextNumber()
            subscription.installed = { reply.finish($0.map { .failure($0) } ?? .success([.uint64(number)])) }
            let userdata = Unmanaged.passRetained(subscription).toOpaque()
            var slot: OpaquePointer?
            let result = sd_bus_add_match_async(
                context.bus, &slot, rule, Subscription.arrived, Subscription.installed, userdata)
            guard result >= 0, let slot else {
                Unmanaged<Subscription>.fromOpaque(userdata).release()
                throw BusError(errno: result, "The signals can't be subscribed to", .invalid)
            }
            sd_bus_slot_set_destroy_callback(slot) { userdata in
                if let userdata { Unmanaged<Subscription>.fromOpaque(userdata).release() }
            }
            context.slots[number] = slot
            let signals = subscription.signals
            context.pending[number] = { error in
                reply.finish(.failure(error))
                signals.finish()
            }
        }
        guard case .uint64(let number)? = values.first else { throw BusError.closed }
        return number
    }

    /// Where one match's signals go. Used on the connection's thread once it is installed.
    private final class Subscription: @unchecked Sendable {
        let sender: String?
        let signals: AsyncStream<BusSignal>.Continuation
        let accept: @Sendable (BusSignal) -> Bool
        var installed: ((BusError?) -> Void)?

        init(
            sender: String?, signals: AsyncStream<BusSignal>.Continuation,
            accept: @escaping @Sendable (BusSignal) -> Bool
        ) {
            self.sender = sender
            self.signals = signals
            self.accept = accept
        }

        static let arrived:
            @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?) -> Int32 = {
                pointer, userdata, _ in
                guard let pointer, let userdata else { return 0 }
                let subscription = Unmanaged<Subscription>.fromOpaque(userdata).takeUnretainedValue()
                let message = BusMessage(pointer: pointer)
                // A signal that is addressed to this connection passes the bus' filter whatever its sender.
                guard subscription.sender == nil || message.sender == subscription.sender,
                    let arguments = try? message.read()
                else { return 0 }
                let signal = BusSignal(
                    sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                    arguments: arguments)
                if subscription.accept(signal) { subscription.signals.yield(signal) }
                return 0
            }

        static let installed:
            @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?) -> Int32 = {
                pointer, userdata, _ in
                guard let pointer, let userdata else { return 0 }
                let subscription = Unmanaged<Subscription>.fromOpaque(userdata).takeUnretainedValue()
                subscription.installed?(sd_bus_message_get_error(pointer).map { BusError(reply: $0) })
                subscription.installed = nil
                return 0
            }
    }
}
