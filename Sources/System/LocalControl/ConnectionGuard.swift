import ControlAPI
import Foundation
import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// How many connections each user has open. Sendable because its state is one `Mutex`.
final class ConnectionCounter: Sendable {
    private let counts = Mutex<[UInt32: Int]>([:])

    /// - Returns: whether the user may have one more; it is counted then.
    func enter(_ user: UInt32, limit: Int) -> Bool {
        counts.withLock { counts in
            guard counts[user, default: 0] < limit else { return false }
            counts[user, default: 0] += 1
            return true
        }
    }

    func leave(_ user: UInt32) {
        counts.withLock { counts in
            let left = counts[user, default: 0] - 1
            counts[user] = left > 0 ? left : nil
        }
    }
}

/// Refuses what never becomes a request: a connection too many, a header or a body that is too long, bytes that are not
/// HTTP.
/// Each gets one answer with the control socket's error body, and its connection is closed.
///
/// Not Sendable: it belongs to one channel and runs on its event loop alone.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What a client that is still sending has after the refusal to read it: closing at once would break its
    /// connection before it has read.
    private static let lingering = TimeAmount.seconds(2)

    private let counter: ConnectionCounter
    private let limit: Int
    private var user: UInt32?
    private var isAdmitted = false
    /// Requests that have begun and whose answers are not written yet.
    private var requests = 0
    /// The header of a request has been read and its end has not.
    private var isReading = false
    /// A refusal that waits for those answers.
    private var refusal: ControlError?
    private var isRefused = false

    init(counter: ConnectionCounter, connectionsPerUser: Int) {
        self.counter = counter
        limit = connectionsPerUser
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { admit(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        admit(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let user { counter.leave(user) }
        user = nil
        context.fireChannelInactive()
    }

    private func admit(_ context: ChannelHandlerContext) {
        guard !isAdmitted, let provider = context.channel as? any SocketOptionProvider else { return }
        isAdmitted = true
        let peer: EventLoopFuture<(Int32, UInt32, UInt32)> = provider.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        peer.assumeIsolated().whenSuccess { credentials in
            if self.counter.enter(credentials.1, limit: self.limit) {
                self.user = credentials.1
            } else {
                self.refuse(
                    ControlError(
                        .busy, "You have \(self.limit) connections to AppLocker open already. Close some and try again."
                    ),
                    context)
            }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused, refusal == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            // Sent before the whole request was received. The rest is still read, for clients that send first and read
            // afterwards.
            let limit = ControlRoute.maximumBodyBytes(method: head.method.rawValue, path: head.path ?? "")
            if let text = head.headerFields[.contentLength], Int(text).map({ $0 > limit }) ?? true {
                return refuseAfterAnswers(ControlServer.bodyTooLong(limit), context)
            }
            requests += 1
            isReading = true
        case .body: break
        case .end: isReading = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        requests -= 1
        if requests == 0, let refusal { refuse(refusal, context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The reader of the rest of a request must be notified that it won't arrive.
        if isReading || error is IOError || error is ChannelError { return context.fireErrorCaught(error) }
        guard !isRefused, refusal == nil else { return }
        let refusal: ControlError
        if let error = error as? HTTPParserError, case .headerOverflow = error {
            refusal = ControlServer.headerTooLong
        } else {
            refusal = ControlError(.badRequest, "This is not an HTTP/1.1 request (\(error)).")
        }
        refuseAfterAnswers(refusal, context)
    }

    private func refuseAfterAnswers(_ refusal: ControlError, _ context: ChannelHandlerContext) {
        if requests > 0 { self.refusal = refusal } else { refuse(refusal, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isRefused, let event = event as? ChannelEvent, event == .inputClosed { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func refuse(_ error: ControlError, _ context: ChannelHandlerContext) {
        isRefused = true
        let body = (try? JSONEncoder().encode(ControlErrorBody(error: error))) ?? Data()
        var fields: HTTPFields = [.contentType: "application/json", .connection: "close"]
        fields[.contentLength] = String(body.count)
        let status = HTTPResponse.Status(code: error == ControlServer.headerTooLong ? 431 : error.status)
        context.write(wrapOutboundOut(.head(HTTPResponse(status: status, headerFields: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }
}
