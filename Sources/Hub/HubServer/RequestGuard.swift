import Foundation
import Glibc
import HTTPTypes
import HubAPI
import HubStore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Refuses what can't become a request: too many connections, a header or body that is too long, bytes that aren't
/// HTTP, a client that sends or reads too slowly. It sends one response with the hub's error body if possible, and
/// closes the connection. It also writes what `StreamMember` passes to it.
///
/// Not Sendable: it belongs to one channel and runs only on its event loop.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    static let maximumHeaderBytes = 16 << 10
    static let headerTooLong = HubError(
        .tooLarge, "The request's header is longer than \(maximumHeaderBytes) bytes; shorten it.")

    private static let host = HTTPField.Name("Host")!
    private static let noHost = HubError(
        .badRequest, "A request has one Host header, no more and no fewer (RFC 9112 section 3.2).")

    /// How long a client that is still sending has to read the refusal. Closing at once would reset its connection
    /// before it has read it.
    private static let lingering = TimeAmount.seconds(2)
    /// The most bytes that are read and discarded meanwhile.
    private static let lingeringBytes = 8 << 20
    /// The interval of checks on a client that doesn't read its response.
    private static let stallCheck = TimeAmount.seconds(10)

    private let counter: ConnectionCounter
    private let metrics: HubMetrics
    private let limits: HubLimits
    private let trustedProxies: [AddressRange]

    private var context: ChannelHandlerContext?
    private var address: [UInt8]?
    private var isCounted = false
    /// Requests that have begun and whose responses aren't written yet.
    private var requests = 0
    /// The header of a request has been read and its end has not.
    private var isReading = false
    private var bodyLimit = 0
    private var bodyBytes = 0
    private var readDeadline: Scheduled<Void>?
    private var progressCheck: Scheduled<Void>?
    private var stall: Scheduled<Void>?
    private var bufferedAtCheck = 0
    private var writtenSinceCheck = 0
    /// A refusal that is sent after the responses before it.
    private var refusal: HubError?
    private var isRefused = false
    private var discardedBytes = 0
    /// Those who wait until the channel is writable.
    private var sending: [EventLoopPromise<Void>] = []
    /// The stream that this connection's last request became.
    private(set) var member: StreamMember?

    init(counter: ConnectionCounter, metrics: HubMetrics, limits: HubLimits, trustedProxies: [AddressRange]) {
        self.counter = counter
        self.metrics = metrics
        self.limits = limits
        self.trustedProxies = trustedProxies
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { admit(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forget()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        admit(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        forget()
        context.fireChannelInactive()
    }

    private func admit(_ context: ChannelHandlerContext) {
        guard !isCounted else { return }
        isCounted = true
        metrics.connectionOpened()
        guard let peer = context.channel.remoteAddress.flatMap(IPAddress.init(socket:)) else { return }
        watchForDeadPeer(context)
        guard !trustedProxies.contains(where: { $0.contains(peer) }) else { return }
        if counter.enter(peer.countedAs, limit: limits.connectionsPerAddress) {
            address = peer.countedAs
        } else {
            metrics.refused(by: "connections")
            refuse(
                HubError(
                    .tooMany,
                    "There are \(limits.connectionsPerAddress) connections from your address already. Close some.",
                    retryAfterSeconds: 10), context)
        }
    }

    /// The kernel closes a connection whose peer acknowledges nothing, or reads nothing, for a minute: tcp(7).
    private func watchForDeadPeer(_ context: ChannelHandlerContext) {
        guard let options = context.channel.syncOptions else { return }
        try? options.setOption(.socketOption(.so_keepalive), value: 1)
        let milliseconds = 60_000
        try? options.setOption(.tcpOption(.init(rawValue: CInt(TCP_USER_TIMEOUT))), value: milliseconds)
    }

    private func forget() {
        if isCounted { metrics.connectionClosed() }
        isCounted = false
        if let address { counter.leave(address) }
        address = nil
        stopWatchingReads()
        stall?.cancel()
        member?.ended(.closed)
        member = nil
        for promise in sending { promise.fail(ChannelError.ioOnClosedChannel) }
        sending = []
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused, refusal == nil else { return discard(unwrapInboundIn(data), context) }
        switch unwrapInboundIn(data) {
        case .head(let head):
            // The first Host field becomes the authority; a second one remains among the fields.
            guard head.authority?.isEmpty == false, head.headerFields[Self.host] == nil else {
                return refuseAfterAnswers(Self.noHost, context)
            }
            let path = (head.path ?? "").prefix { $0 != "?" }
            bodyLimit =
                HubRoute.match(method: head.method.rawValue, path: path)?.route.maximumBodyBytes
                ?? HubRoute.smallBodyBytes
            bodyBytes = 0
            let length = head.headerFields[.contentLength]
            // Refused before the whole body has arrived: a client that sends first and reads afterwards still gets the
            // response.
            if let length, Int(length).map({ $0 > bodyLimit || $0 < 0 }) ?? true {
                return refuseAfterAnswers(HubError.bodyTooLong(bodyLimit), context)
            }
            requests += 1
            isReading = true
            expectEnd(within: length.flatMap { Int($0) } ?? bodyLimit, context)
            if head.headerFields[.expect]?.lowercased() == "100-continue", requests == 1 {
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            if bodyBytes > bodyLimit, requests > 0 { return refuseNow(HubError.bodyTooLong(bodyLimit), context) }
        case .end:
            isReading = false
            stopWatchingReads()
        }
        context.fireChannelRead(data)
    }

    private func discard(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        guard case .body(let bytes) = part else { return }
        discardedBytes += bytes.readableBytes
        if discardedBytes > Self.lingeringBytes { context.close(promise: nil) }
    }

    private func expectEnd(within bytes: Int, _ context: ChannelHandlerContext) {
        stopWatchingReads()
        let time = limits.requestTimeout + .seconds(bytes / max(1, limits.slowestClient))
        readDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            self.refuseSlow(context)
        }
        watchProgress(since: nil, context)
    }

    /// Refuses a body of which less arrives than the slowest client sends: it holds memory that others need.
    /// - Parameter before: the bytes that had arrived at the last check; nil at first, when nothing has to have arrived.
    private func watchProgress(since before: Int?, _ context: ChannelHandlerContext) {
        let interval = TimeAmount(limits.requestTimeout)
        let atLeast = Int(Double(limits.slowestClient) * Double(interval.nanoseconds) / 1e9)
        progressCheck = context.eventLoop.assumeIsolated().scheduleTask(in: interval) {
            if let before, self.bodyBytes - before < atLeast { return self.refuseSlow(context) }
            self.watchProgress(since: self.bodyBytes, context)
        }
    }

    private func refuseSlow(_ context: ChannelHandlerContext) {
        guard isReading else { return }
        metrics.refused(by: "slow")
        refuseNow(HubError(.badRequest, "The request took too long to arrive. Send it faster."), context)
    }

    private func stopWatchingReads() {
        readDeadline?.cancel()
        progressCheck?.cancel()
        (readDeadline, progressCheck) = (nil, nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError || error is ChannelError { return context.fireErrorCaught(error) }
        guard !isRefused, refusal == nil else { return }
        let refusal: HubError
        if let error = error as? HTTPParserError, case .headerOverflow = error {
            refusal = Self.headerTooLong
        } else if error is HTTPParserError {
            refusal = HubError(.badRequest, "This is not an HTTP/1.1 request (\(error)).")
        } else {
            // Errors of TLS and the like: no response is possible.
            return context.close(promise: nil)
        }
        // The handler that reads the rest of the request must be informed that it won't arrive.
        if isReading { refuseNow(refusal, context) } else { refuseAfterAnswers(refusal, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            if isRefused || member != nil || isReading { return context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Writing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var data = data
        var isEnd = false
        switch unwrapOutboundIn(data) {
        case .body(let bytes): writtenSinceCheck += bytes.readableBytes
        case .end: isEnd = true
        case .head(var head):
            // The response precedes the end of the body, for example for an unknown token: the rest is discarded.
            if isReading, requests == 1 {
                head.headerFields[.connection] = "close"
                data = wrapOutboundOut(.head(head))
            }
        }
        context.write(data, promise: promise)
        guard isEnd else { return }
        requests -= 1
        if requests == 0, let refusal { return refuse(refusal, context) }
        if requests == 0, isReading { stopReading(context) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stall?.cancel()
            stall = nil
            for promise in sending { promise.succeed() }
            sending = []
            member?.becameWritable()
        } else if stall == nil {
            bufferedAtCheck = Int.max
            watchStall(context)
        }
        context.fireChannelWritabilityChanged()
    }

    /// Closes the connection of a client that read less than the slowest one may between two checks.
    private func watchStall(_ context: ChannelHandlerContext) {
        stall = context.eventLoop.assumeIsolated().scheduleTask(in: Self.stallCheck) {
            guard !context.channel.isWritable else { return }
            let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            let atLeast = self.limits.slowestClient * Int(Self.stallCheck.nanoseconds / 1_000_000_000)
            if self.bufferedAtCheck != Int.max,
                self.bufferedAtCheck + self.writtenSinceCheck - buffered < min(atLeast, self.bufferedAtCheck)
            {
                self.metrics.refused(by: "slow")
                return context.close(promise: nil)
            }
            self.bufferedAtCheck = buffered
            self.writtenSinceCheck = 0
            self.watchStall(context)
        }
    }

    // MARK: Streams

    /// From now on the connection belongs to that stream. Called on its event loop.
    /// - Returns: false if the connection has already ended.
    func begin(_ member: StreamMember) -> Bool {
        guard let context, context.channel.isActive, !isRefused else { return false }
        self.member = member
        return true
    }

    func endStream() { member = nil }

    var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Completes the promise when the channel holds little of what was written, or fails it when the channel closes.
    func whenWritable(_ promise: EventLoopPromise<Void>) {
        if context?.channel.isActive != true {
            promise.fail(ChannelError.ioOnClosedChannel)
        } else if isWritable {
            promise.succeed()
        } else {
            sending.append(promise)
        }
    }

    func send(_ bytes: ByteBuffer) {
        guard let context, !isRefused else { return }
        writtenSinceCheck += bytes.readableBytes
        context.writeAndFlush(wrapOutboundOut(.body(bytes)), promise: nil)
    }

    func close() { context?.close(promise: nil) }

    // MARK: Refusing

    private func refuseAfterAnswers(_ refusal: HubError, _ context: ChannelHandlerContext) {
        if requests > 0 { self.refusal = refusal } else { refuse(refusal, context) }
    }

    /// Refuses in the middle of a request. The request's handler gets `RequestCutOff` instead of the rest.
    private func refuseNow(_ refusal: HubError, _ context: ChannelHandlerContext) {
        refuse(refusal, context)
        context.fireErrorCaught(RequestCutOff())
    }

    /// The response is written and the body is still arriving: it is discarded for a moment, without a second response.
    private func stopReading(_ context: ChannelHandlerContext) {
        isRefused = true
        stopWatchingReads()
        context.flush()
        context.fireErrorCaught(RequestCutOff())
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }

    private func refuse(_ error: HubError, _ context: ChannelHandlerContext) {
        isRefused = true
        stopWatchingReads()
        let body = HubErrorBody(error: error).json
        var fields: HTTPFields = [.contentType: "application/json", .connection: "close"]
        fields[.contentLength] = String(body.count)
        if let seconds = error.retryAfterSeconds { fields[.retryAfter] = String(seconds) }
        let status = HTTPResponse.Status(code: error == Self.headerTooLong ? 431 : error.status)
        context.write(wrapOutboundOut(.head(HTTPResponse(status: status, headerFields: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }
}

/// The rest of a refused request won't be read.
struct RequestCutOff: Error {}
