import CSystemd
import Glibc

/// What an exported object offers under one interface name.
public struct BusInterface: Sendable {
    /// Called on the connection's thread: must not block.
    public typealias Handler = @Sendable (_ arguments: [BusValue], _ sender: String) throws -> [BusValue]

    public struct Method: Sendable {
        var arguments: String
        var returns: String
        var handler: Handler

        /// - Parameters:
        ///   - arguments: their signature; a call with another one never reaches the handler.
        ///   - returns: the signature of the reply.
        ///   - handler: a `BusError` with a name is sent as that error.
        public init(arguments: String = "", returns: String = "", _ handler: @escaping Handler) {
            self.arguments = arguments
            self.returns = returns
            self.handler = handler
        }
    }

    public struct Property: Sendable {
        var type: String
        var value: @Sendable () -> BusValue

        /// A property that can be read. `value` is called on the connection's thread and must not block.
        public init(_ type: String, _ value: @escaping @Sendable () -> BusValue) {
            self.type = type
            self.value = value
        }
    }

    public var name: String
    public var methods: [String: Method]
    public var properties: [String: Property]
    /// Name → signature, for introspection.
    public var signals: [String: String]

    public init(
        _ name: String, methods: [String: Method] = [:], properties: [String: Property] = [:],
        signals: [String: String] = [:]
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    var introspection: String {
        func arguments(_ signature: String, _ direction: String) -> String {
            Self.types(in: signature).map { "<arg type=\"\($0)\"\(direction)/>" }.joined()
        }
        var text = "<interface name=\"\(name)\">"
        for (name, method) in methods.sorted(by: { $0.key < $1.key }) {
            text +=
                "<method name=\"\(name)\">" + arguments(method.arguments, " direction=\"in\"")
                + arguments(method.returns, " direction=\"out\"") + "</method>"
        }
        for (name, signature) in signals.sorted(by: { $0.key < $1.key }) {
            text += "<signal name=\"\(name)\">" + arguments(signature, "") + "</signal>"
        }
        for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
            text += "<property name=\"\(name)\" type=\"\(property.type)\" access=\"read\"/>"
        }
        return text + "</interface>"
    }

    /// The complete types of a signature, one by one.
    static func types(in signature: String) -> [String] {
        var types: [String] = []
        var current = ""
        var depth = 0
        for character in signature {
            current.append(character)
            if "({".contains(character) { depth += 1 }
            if ")}".contains(character) { depth -= 1 }
            if depth == 0, character != "a" {
                types.append(current)
                current = ""
            }
        }
        return types
    }
}

extension DBusConnection {
    /// Exports an object for as long as the connection is open. Properties and introspection are answered from
    /// the interfaces.
    ///
    /// - Throws: `BusError` with `invalid` or `closed`.
    public func export(_ path: String, _ interfaces: [BusInterface]) async throws {
        _ = try await reply { context, reply in
            let userdata = Unmanaged.passRetained(ExportedObject(interfaces)).toOpaque()
            var slot: OpaquePointer?
            let result = sd_bus_add_object(context.bus, &slot, path, ExportedObject.called, userdata)
            guard result >= 0, let slot else {
                Unmanaged<ExportedObject>.fromOpaque(userdata).release()
                throw BusError(errno: result, "The object \(path) can't be exported", .invalid)
            }
            sd_bus_slot_set_destroy_callback(slot) { userdata in
                if let userdata { Unmanaged<ExportedObject>.fromOpaque(userdata).release() }
            }
            context.slots[context.nextNumber()] = slot
            reply.finish(.success([]))
        }
    }

    /// Broadcasts a signal.
    ///
    /// - Throws: `BusError` with `invalid` or `closed`.
    public func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) async throws {
        _ = try await reply { context, reply in
            var pointer: OpaquePointer?
            let made = sd_bus_message_new_signal(context.bus, &pointer, path, interface, member)
            guard made >= 0, let pointer else {
                throw BusError(errno: made, "\(interface).\(member) can't be sent", .invalid)
            }
            defer { sd_bus_message_unref(pointer) }
            try BusMessage(pointer: pointer).append(arguments)
            let sent = sd_bus_send(context.bus, pointer, nil)
            guard sent >= 0 else { throw BusError(errno: sent, "\(interface).\(member) can't be sent", .closed) }
            reply.finish(.success([]))
        }
    }
}

/// Answers the calls to one exported path. Used on the connection's thread.
private final class ExportedObject {
    let interfaces: [String: BusInterface]

    init(_ interfaces: [BusInterface]) {
        self.interfaces = Dictionary(interfaces.map { ($0.name, $0) }) { _, last in last }
    }

    static let called:
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?) -> Int32 = {
            pointer, userdata, _ in
            guard let pointer, let userdata, sd_bus_message_is_method_call(pointer, nil, nil) > 0 else { return 0 }
            Unmanaged<ExportedObject>.fromOpaque(userdata).takeUnretainedValue().answer(pointer)
            return 1
        }

    private func answer(_ pointer: OpaquePointer) {
        do {
            let (signature, values) = try outcome(BusMessage(pointer: pointer))
            guard values.map(\.type).joined() == signature else {
                throw BusError(.invalid, "The response is not of type \(signature).")
            }
            var reply: OpaquePointer?
            guard sd_bus_message_new_method_return(pointer, &reply) >= 0, let reply else { return }
            defer { sd_bus_message_unref(reply) }
            try BusMessage(pointer: reply).append(values)
            sd_bus_send(nil, reply, nil)
        } catch {
            let error = error as? BusError ?? BusError(.refused, "\(error)")
            let name = error.name.isEmpty ? "org.freedesktop.DBus.Error.Failed" : error.name
            name.withCString { name in
                error.description.withCString { text in
                    var fields = sd_bus_error()
                    fields.name = name
                    fields.message = text
                    _ = sd_bus_reply_method_error(pointer, &fields)
                }
            }
        }
    }

    private func outcome(_ message: BusMessage) throws -> (String, [BusValue]) {
        switch (message.interface, message.member) {
        case ("org.freedesktop.DBus.Introspectable", "Introspect"):
            return ("s", [.string(introspection)])
        case ("org.freedesktop.DBus.Properties", let member):
            return try properties(member, message)
        default:
            guard let method = interfaces[message.interface]?.methods[message.member] else {
                throw Self.unknown("Method", message.member)
            }
            try Self.require(method.arguments, of: message)
            return (method.returns, try method.handler(message.read(), message.sender))
        }
    }

    private func properties(_ member: String, _ message: BusMessage) throws -> (String, [BusValue]) {
        let expected = ["Get": "ss", "GetAll": "s", "Set": "ssv"]
        guard let signature = expected[member] else { throw Self.unknown("Method", member) }
        try Self.require(signature, of: message)
        let arguments = try message.read()
        guard let interface = interfaces[arguments[0].text ?? ""] else {
            throw Self.unknown("Interface", arguments[0].text ?? "")
        }
        if member == "GetAll" { return ("a{sv}", [.options(interface.properties.mapValues { $0.value() })]) }
        let name = arguments[1].text ?? ""
        guard let property = interface.properties[name] else { throw Self.unknown("Property", name) }
        guard member == "Get" else {
            throw BusError(
                .refused, name: "org.freedesktop.DBus.Error.PropertyReadOnly", "\(name) can't be changed.")
        }
        return ("v", [.variant(property.value())])
    }

    private static func require(_ signature: String, of message: BusMessage) throws {
        guard message.signature == signature else {
            throw BusError(
                .invalid, name: "org.freedesktop.DBus.Error.InvalidArgs",
                "\(message.member) requires \"\(signature)\", not \"\(message.signature)\".")
        }
    }

    private static func unknown(_ what: String, _ name: String) -> BusError {
        BusError(
            .refused, name: "org.freedesktop.DBus.Error.Unknown\(what)", "There is no \(what.lowercased()) \(name).")
    }

    private var introspection: String {
        let own = interfaces.values.sorted { $0.name < $1.name }.map(\.introspection).joined()
        return """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>\(own)<interface name="org.freedesktop.DBus.Properties">\
            <method name="Get"><arg type="s" direction="in"/><arg type="s" direction="in"/>\
            <arg type="v" direction="out"/></method><method name="GetAll"><arg type="s" direction="in"/>\
            <arg type="a{sv}" direction="out"/></method><signal name="PropertiesChanged"><arg type="s"/>\
            <arg type="a{sv}"/><arg type="as"/></signal></interface></node>
            """
    }
}
