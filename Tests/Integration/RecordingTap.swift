import Foundation
import Glibc
import Synchronization
import SystemTestSupport

/// A proxy between a hub and its clients that records every byte in both directions.
///
/// Sendable because its state is one `Mutex`; its threads end with their connections.
final class RecordingTap: Sendable {
    let port: UInt16
    private let listener: Int32
    /// Each direction of each connection separately, so that interleaving doesn't split anything.
    private let seen = Mutex<[Data]>([])

    var url: String { "http://127.0.0.1:\(port)" }
    var traffic: Data { seen.withLock { Data($0.joined(separator: [0])) } }

    init(to target: Int) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                join(client, to: target)
            }
        }
    }

    private func join(_ client: Int32, to target: Int) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(UInt16(target))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(client)
            close(server)
            return
        }
        for (from, to) in [(client, server), (server, client)] {
            Thread.detachNewThread { [self] in copy(from, to) }
        }
    }

    private func copy(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let index = seen.withLock { seen in
            seen.append(Data())
            return seen.count - 1
        }
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { break }
            seen.withLock { $0[index].append(contentsOf: buffer[..<count]) }
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes {
                    send(to, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
