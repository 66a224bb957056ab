/// `applockerd --state DIR [--gate-socket PATH] [--hub ADDRESS | --no-hub]`: started by `applocker up` or by the system, not by people.
struct Arguments {
    var state: String
    /// Where the gate listens; by default in the state directory.
    var gateSocket: String
    /// The address of the hub that runs beside this daemon.
    var hub: String?

    /// - Throws: `StartError.usage`.
    init(_ words: [String]) throws {
        var state: String?
        var gateSocket: String?
        var rest = words[...]
        func value(_ prefix: String, _ refusal: String) throws -> String {
            guard let value = rest.popFirst(), value.hasPrefix(prefix) else { throw StartError.usage(refusal) }
            return value
        }
        while let word = rest.popFirst() {
            switch word {
            case "--state": state = try value("/", "--state needs an absolute path.")
            case "--gate-socket": gateSocket = try value("/", "--gate-socket needs an absolute path.")
            case "--hub": hub = try value("http", "--hub needs an address.")
            // No hub runs on this computer; a connection that the owner configured is kept.
            case "--no-hub": break
            default: throw StartError.usage("\(word) is not an option of applockerd.")
            }
        }
        guard let state else { throw StartError.usage("--state is missing.") }
        self.state = state
        self.gateSocket = gateSocket ?? state + "/gate.sock"
    }
}
