import GateProtocol

/// A parser of untrusted bytes: it returns a value or an error for every input, and never ends the process.
///
/// `make fuzz` searches for inputs that break this; the tests run those that are kept in Fuzz/corpus.
enum FuzzedParser: String, CaseIterable, Sendable {
    case slots, ring, envelope, stream, box
    case lockedFile = "locked-file"
    case backup, earlier, verifier, texts
    case desktopEntry = "desktop-entry"
    case exec
    case shellScript = "shell-script"
    case gateMessages = "gate-messages"
    case knownApps = "known-apps"
    case schedule, picture, moment, wire

    func run(_ bytes: [UInt8]) {
        switch self {
        case .slots: Self.slots(bytes)
        case .ring: Self.ring(bytes)
        case .envelope: Self.envelope(bytes)
        case .stream: Self.stream(bytes)
        case .box: Self.box(bytes)
        case .lockedFile: Self.lockedFile(bytes)
        case .backup: Self.backup(bytes)
        case .earlier: Self.earlier(bytes)
        case .verifier: Self.verifier(bytes)
        case .texts: Self.texts(bytes)
        case .desktopEntry: Self.desktopEntry(bytes)
        case .exec: Self.exec(bytes)
        case .shellScript: Self.shellScript(bytes)
        case .gateMessages: Self.gateMessages(bytes)
        case .knownApps: _ = try? KnownApps.decoded(bytes)
        case .schedule: Self.schedule(bytes)
        case .picture: Self.picture(bytes)
        case .moment: Self.moment(bytes)
        case .wire: Self.wire(bytes)
        }
    }

    /// Encoding the parsed value yields the same bytes: there is one spelling, and nothing was ignored.
    static func same(_ written: [UInt8], as read: [UInt8]) {
        precondition(written == read, "the parsed value is encoded as other bytes")
    }
}
