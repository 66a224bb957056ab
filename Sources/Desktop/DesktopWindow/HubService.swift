import BlockingThread
import DesktopModels
import Glibc
import Localization

/// The hub that runs as a service of this computer.
struct HubService: Sendable {
    /// How long it may take to listen, in tenths of a second.
    private static let patience = 300

    let administrator: Administrator

    var isInstalled: Bool { administrator.canMake(.startHub) }

    /// Enables and starts it, after an administrator's password. Returns once it listens.
    ///
    /// - Throws: as `Administrator.make`, and `Refused` where another program has its port.
    func start() async throws {
        let isForeign = try await runBlocking { [administrator] in
            try Self.isListening() && !administrator.isHubActive()
        }
        guard !isForeign else {
            throw Administrator.Refused(
                description: localized("Another program listens at 127.0.0.1:8440, where the hub would. End it first."))
        }
        try await administrator.make(.startHub)
        for _ in 1...Self.patience {
            if await runBlocking({ Self.isListening() }) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Administrator.Refused(
            description: localized(
                "The hub does not listen at 127.0.0.1:8440. Its options may be others; `journalctl -u applocker-hub` has more."
            ))
    }

    private static func isListening() -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = HubModel.portHere.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
