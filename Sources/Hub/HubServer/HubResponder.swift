import Foundation
import HTTPTypes
import HubAPI
import HubStore
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Connects HTTP with the service: authentication, limits, and one format of error for every refusal.
struct HubResponder: HTTPResponder {
    let service: HubService
    let files: WebFiles

    func respond(to request: Request, context: HubContext) async throws -> Response {
        let start = ContinuousClock.now
        let path = request.uri.path
        let match = HubRoute.match(method: request.method.rawValue, path: path)
        var response: Response
        do {
            if let match {
                response = try await answer(match.route, match.parameters, request, context)
            } else {
                response = try other(request, path)
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch is RequestCutOff {
            // The client has already received a response.
            throw RequestCutOff()
        } catch {
            response = Self.refusal(error, logger: service.logger)
        }
        // The client would read a body as the beginning of the next response (RFC 9110 section 9.3.2).
        if request.method == .head { response = response.createHeadResponse() }
        response.headers[HTTPField.Name("X-Content-Type-Options")!] = "nosniff"
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let name = match?.route.rawValue ?? (response.status == .ok ? "GET /" : "none")
        service.metrics.answered(route: name, status: response.status.code, seconds: seconds)
        service.logger.info(
            "request",
            metadata: [
                "route": "\(name)", "status": "\(response.status.code)",
                "milliseconds": "\(String(format: "%.1f", seconds * 1_000))",
                "request": "\(String(UInt64.random(in: 0...UInt64.max), radix: 16))",
            ])
        return response
    }

    /// - Parameter parameters: of the path, percent-encoded.
    private func answer(
        _ route: HubRoute, _ parameters: [String: String], _ request: Request, _ context: HubContext
    ) async throws -> Response {
        let client = Client(
            peer: context.channel.remoteAddress, request: request.head,
            trustedProxies: service.configuration.trustedProxies)
        let token = Self.bearerToken(request.headers)
        let budget = service.budget
        let device: StoredDevice?
        do {
            device = try await service.admit(route, token: token, from: client)
        } catch let error as HubError where error.code == .unauthorized && route == .roster {
            guard let token, let household = try await service.household(ofRevoked: token) else { throw error }
            let share = budget.share(of: household, for: client)
            let read = HubRequest(
                route: route, client: client, headers: request.headers, query: try Self.query(request.uri),
                parameters: [:], device: nil, body: Data(), share: share)
            guard let page = try await service.rosterOfRevoked(read, token: token, of: household) else { throw error }
            return try await reply(page, share, context.channel)
        }
        let share = budget.share(of: device?.household, for: client)
        let body = try await Self.read(request.body, upTo: route.maximumBodyBytes, share)
        service.limits.count(bytes: body.count, of: device, from: client)
        let read = HubRequest(
            route: route, client: client, headers: request.headers, query: try Self.query(request.uri),
            parameters: try parameters.mapValues(Self.decoded), device: device, body: body,
            share: share)
        if route.answersEvents { return try service.stream(read, token: token ?? "", context: context) }
        do {
            return try await reply(try await service.respond(to: read), share, context.channel)
        } catch let conflict as RecordConflict {
            // It has the stored record, however small the request is.
            let refusal = HubErrorBody(
                error: HubError(.conflict, "Another revision of this record is stored; write the one after it."),
                current: conflict.current)
            return try json(refusal.json, status: .conflict, share, context.channel)
        }
    }

    /// Decoding a large body needs three times its size. That is reserved as the bytes arrive, so a length that a
    /// client only announces blocks nobody.
    private static func read(
        _ body: RequestBody, upTo limit: Int, _ share: MemoryBudget.Share
    ) async throws -> Data {
        var read = Data()
        for try await bytes in body {
            let size = read.count + bytes.readableBytes
            guard size <= limit else { throw HubError.bodyTooLong(limit) }
            if size > HubRoute.smallBodyBytes { try share.grow(to: size * 3) }
            read.append(contentsOf: bytes.readableBytesView)
        }
        return read
    }

    static func bearerToken(_ headers: HTTPFields) -> String? {
        guard let value = headers[.authorization], value.lowercased().hasPrefix("bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count).trimmingWhitespace())
    }

    private static func query(_ uri: URI) throws -> [String: String] {
        var query: [String: String] = [:]
        for (key, value) in uri.queryParameters {
            guard query.updateValue(String(value), forKey: String(key)) == nil else {
                throw HubError(.badRequest, "The query has the same name twice.")
            }
        }
        return query
    }

    private static func decoded(_ parameter: String) throws -> String {
        guard let value = parameter.removingPercentEncoding else {
            throw HubError(.badRequest, "The address is not valid percent-encoded UTF-8 (RFC 3986 section 2.1).")
        }
        return value
    }

    // MARK: Responses

    private func reply(
        _ reply: HubReply, _ share: MemoryBudget.Share, _ channel: any Channel
    ) async throws -> Response {
        switch reply {
        case .json(let data): try json(data, status: .ok, share, channel)
        case .done: Response(status: .noContent)
        case .text(let text, let type):
            Response(
                status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        case .blob(let reading): try await blob(reading, share, channel)
        }
    }

    private func json(
        _ data: Data, status: HTTPResponse.Status, _ share: MemoryBudget.Share, _ channel: any Channel
    ) throws -> Response {
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        let bytes = ByteBuffer(bytes: data)
        guard data.count > HubRoute.smallBodyBytes else {
            return Response(status: status, headers: headers, body: .init(byteBuffer: bytes))
        }
        // The memory is reserved until the client has received most of it: `write` returns before that.
        try share.grow(to: data.count)
        share.shrink(to: data.count)
        return Response(
            status: status, headers: headers,
            body: .init(contentLength: data.count) { writer in
                try await writer.write(bytes)
                try await channel.untilWritable()
                try await writer.finish(nil)
                withExtendedLifetime(share) {}
            })
    }

    /// - Throws: `HubError` with `notFound` where the content is lost, as after the hub's database alone was restored.
    private func blob(
        _ reading: BlobReading, _ share: MemoryBudget.Share, _ channel: any Channel
    ) async throws -> Response {
        let range = reading.range ?? 0..<reading.size
        // One piece waits to be sent while the next one is read.
        if range.count > HubRoute.smallBodyBytes { try share.grow(to: min(range.count, 2 * HubService.blobStep)) }
        // Before the status is sent: files are lost as a whole, or at their end. A range of one piece is read once.
        let isOnePiece = range.count <= HubService.blobStep
        let read = try await service.bytes(
            of: reading.blob, from: isOnePiece ? range.lowerBound : range.upperBound - 1, to: range.upperBound)
        let onlyPiece = isOnePiece ? ByteBuffer(bytes: read) : nil
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .cacheControl: "no-store", .acceptRanges: "bytes",
        ]
        if reading.range != nil {
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(reading.size)"
        }
        return Response(
            status: reading.range == nil ? .ok : .partialContent, headers: headers,
            body: .init(contentLength: range.count) { [service] writer in
                if let onlyPiece { try await writer.write(onlyPiece) }
                var offset = isOnePiece ? range.upperBound : range.lowerBound
                while offset < range.upperBound {
                    // An incomplete response is aborted, so that the client can't mistake it for the whole blob.
                    let bytes = try await service.bytes(of: reading.blob, from: offset, to: range.upperBound)
                    try await writer.write(ByteBuffer(bytes: bytes))
                    offset += UInt64(bytes.count)
                }
                try await channel.untilWritable()
                try await writer.finish(nil)
                withExtendedLifetime(share) {}
            })
    }

    /// Everything that isn't a route of the hub: the companion's files, or 404.
    private func other(_ request: Request, _ path: String) throws -> Response {
        if request.method == .get || request.method == .head, let response = files.response(to: path, request.headers) {
            return response
        }
        let others = HubRoute.allCases.filter { HubRoute.match(method: $0.method, path: path)?.route == $0 }
        guard others.isEmpty else {
            var response = Self.refusal(
                HubError(.notFound, "This address allows \(others.map(\.method).joined(separator: ", ")) only."),
                logger: service.logger)
            response.status = .methodNotAllowed
            response.headers[.allow] = others.map(\.method).joined(separator: ", ")
            return response
        }
        throw HubError(.notFound, "There is no such address; docs/hub-protocol.md lists them.")
    }

    static func refusal(_ error: any Error, logger: Logger) -> Response {
        let body: HubErrorBody
        switch error {
        case let error as HubError: body = HubErrorBody(error: error)
        default:
            logger.error("A request failed.", metadata: ["error": "\(type(of: error))"])
            body = HubErrorBody(error: .requestFailed)
        }
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if let seconds = body.error.retryAfterSeconds { headers[.retryAfter] = String(seconds) }
        if body.error.code == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: .init(code: body.error.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: body.json)))
    }
}

extension HubErrorBody {
    /// Equal refusals have equal bytes: the order of an object's fields reveals nothing.
    var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)) ?? Data()
    }
}
