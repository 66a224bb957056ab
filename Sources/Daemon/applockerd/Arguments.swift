/// `applockerd --state DIR [--gate-socket PATH] [--hub ADDRESS | --no-hub]`: started by `applocker up` or by the system, not by people.
struct Arguments {
    var state: String
    /// Where the gate listens; in the state directory where nothing else was said.
    var gateSocket: String
    /// The address of the hub that runs beside this daemon.
    var hub: String?

    /// - Throws: `StartError.usage`.
    init(_ words: [String]) throws {
        var state: String?
        var gateSocket: String?
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--state":
                guard let value = rest.popFirst(), value.hasPrefix("/") else {
                    throw StartError.usage("--state needs an absolute path.")
                }
                state = value
            case "--gate-socket":
                guard let value = rest.popFirst(), value.hasPrefix("/") else {
                    throw StartError.usage("--gate-socket needs an absolute path.")
                }
                gateSocket = value
            case "--hub":
                guard let value = rest.popFirst(), value.hasPrefix("http") else {
                    throw StartError.usage("--hub needs an address.")
                }
                hub = value
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
