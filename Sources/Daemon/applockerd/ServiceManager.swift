import CLinux
import Foundation
import Glibc

/// The service manager that started the daemon, if there is one: sd_notify(3).
enum ServiceManager {
    /// Sends READY=1: units that are ordered after the daemon, user sessions above all, may then start. Repeating it
    /// has no effect.
    static func notifyReady() {
        guard let address = getenv("NOTIFY_SOCKET") else { return }
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        defer { close(number) }
        let text = Array("READY=1".utf8)
        _ = clinux_notify(number, address, text, text.count, -1)
    }

    /// Sends READY=1 after this time even without a gate, so that users can log in to a computer whose gate can't
    /// start.
    static func notifyReady(atTheLatestAfter seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { notifyReady() }
    }
}
