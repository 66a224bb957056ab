import CLinux
import Foundation
import Glibc

/// A client that sends arbitrary bytes over a real Unix socket. Its calls block: `blocking` runs them outside Swift's
/// cooperative pool.
final class RawConnection: @unchecked Sendable {
    // Sendable: a test uses it from one thread at a time; the descriptor never changes.
    let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // An initializer that throws with everything set still runs deinit, which closes.
        guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// - Returns: false if the server did not accept all of it.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything until the server closes; nil if it does not within 60 seconds.
    func readToEnd() -> String? {
        var bytes: [UInt8] = []
        while true {
            guard let more = readSome() else { return nil }
            guard !more.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
            bytes += more
        }
    }

    /// Reads until `text` was received `times` times. Returns what was received so far if the server closes first.
    func read(until text: String, times: Int = 1) -> String {
        var bytes: [UInt8] = []
        while true {
            let all = String(decoding: bytes, as: UTF8.self)
            if all.components(separatedBy: text).count > times { return all }
            guard let more = readSome(), !more.isEmpty else { return all }
            bytes += more
        }
    }

    /// Empty at the end, nil after 60 seconds of silence.
    private func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { return errno == EAGAIN ? nil : [] }
        return Array(buffer[..<count])
    }
}

/// Runs blocking work on its own thread.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// A parsed HTTP response.
struct RawAnswer {
    var status: Int
    var header: String
    var body: String

    /// - Parameter text: one response, header and body.
    init?(_ text: String) {
        guard let end = text.range(of: "\r\n\r\n"), let line = text.split(separator: "\r\n").first else { return nil }
        let words = line.split(separator: " ")
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else { return nil }
        self.status = status
        header = String(text[..<end.lowerBound]).lowercased()
        body = String(text[end.upperBound...])
    }
}
