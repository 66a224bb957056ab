import Foundation
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The TLS certificate in use. New connections get the newest one; open connections keep theirs.
final class CertificateReloader: Sendable {
    private struct State {
        var context: NIOSSLContext
        var stamp: [Int]
    }

    private let files: HubConfiguration.Certificate
    private let logger: Logger
    private let state: Mutex<State>

    /// - Throws: `HubStartError.badCertificate`.
    init(_ files: HubConfiguration.Certificate, logger: Logger) throws {
        self.files = files
        self.logger = logger
        state = Mutex(State(context: try Self.load(files), stamp: Self.stamp(files)))
    }

    var context: NIOSSLContext { state.withLock { $0.context } }

    /// - Parameter always: reload even if the files seem unchanged.
    func reload(always: Bool) {
        let stamp = Self.stamp(files)
        guard always || stamp != state.withLock({ $0.stamp }) else { return }
        do {
            let context = try Self.load(files)
            state.withLock { $0 = State(context: context, stamp: stamp) }
            logger.notice("The certificate was read again.")
        } catch {
            // The renewal may be half done: the second file changes the stamp again, which causes another reload.
            logger.error("The new certificate can't be used; the hub keeps the old one.")
        }
    }

    private static func load(_ files: HubConfiguration.Certificate) throws -> NIOSSLContext {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(files.chainPath)
        } catch {
            throw HubStartError.badCertificate(path: files.chainPath, cause: "it is not a PEM file with a certificate")
        }
        do {
            let key = try NIOSSLPrivateKey(file: files.keyPath, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw HubStartError.badCertificate(
                path: files.keyPath, cause: "it is not a private key in PEM, or not this certificate's")
        }
    }

    /// Changes with every renewal: time, size and number of both files.
    private static func stamp(_ files: HubConfiguration.Certificate) -> [Int] {
        [files.chainPath, files.keyPath].flatMap { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return [0, 0, 0, 0] }
            return [
                Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec), Int(status.st_size),
                Int(truncatingIfNeeded: status.st_ino),
            ]
        }
    }
}

/// HTTP over TLS with the certificate that is the newest when the client connects.
struct ReloadingTLSChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel
    let certificates: CertificateReloader

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificates.context))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
