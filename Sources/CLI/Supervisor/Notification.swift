/// The text of one datagram of the service notification protocol, sd_notify(3).
struct Notification: Equatable {
    var storesDescriptors = false
    var removesDescriptors = false
    /// FDNAME; "stored" if the sender specified none, as the protocol requires.
    var descriptorName = "stored"
    var isBarrier = false
    var isReady = false
    var isAlive = false
    var status: String?

    /// The longest accepted text, in bytes.
    static let maximumBytes = 4096

    /// Parses KEY=VALUE lines. Unknown keys are ignored, as the protocol requires. Nil for text that is not UTF-8 or a
    /// descriptor name that the protocol doesn't allow.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let text = String(validating: Array(bytes), as: UTF8.self) else { return nil }
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = line[line.index(after: equals)...]
            switch line[..<equals] {
            case "FDSTORE": storesDescriptors = value == "1"
            case "FDSTOREREMOVE": removesDescriptors = value == "1"
            case "FDNAME":
                guard Self.isDescriptorName(value) else { return nil }
                descriptorName = String(value)
            case "BARRIER": isBarrier = value == "1"
            case "READY": isReady = value == "1"
            case "WATCHDOG": isAlive = value == "1"
            case "STATUS": status = String(value)
            default: break
            }
        }
    }

    /// Printable ASCII without the colon that separates names, 1 to 255 bytes (sd_pid_notify_with_fds(3)).
    static func isDescriptorName(_ name: some StringProtocol) -> Bool {
        !name.isEmpty && name.utf8.count <= 255
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
    }
}
