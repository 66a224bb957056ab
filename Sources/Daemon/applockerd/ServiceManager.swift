import CLinux
import Foundation
import Glibc

/// The service manager that started the daemon, where there is one: sd_notify(3).
enum ServiceManager {
    /// Tells it that the daemon works: what comes after the daemon in the order of a boot, people's sessions above all,
    /// may start then. Telling it again is harmless.
    static func notifyReady() {
        guard let address = getenv("NOTIFY_SOCKET") else { return }
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        defer { close(number) }
        let text = Array("READY=1".utf8)
        _ = clinux_notify(number, address, text, text.count, -1)
    }

    /// Tells it so after this long even where the gate never came: a computer whose gate can't start must still be one
    /// that people can log in to.
    static func notifyReady(atTheLatestAfter seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { notifyReady() }
    }
}
