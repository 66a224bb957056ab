import ControlAPI
import Foundation
import Glibc
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// A prompter is connected for as long as its stream is open: the end of the stream must be noticed at once.
struct PromptStreamTests {
    /// Limits that are too long to reveal, by a failed heartbeat or by a timeout, that a prompter has disconnected.
    private static var silent: ControlServer.Limits {
        var limits = ControlServer.Limits()
        (limits.heartbeat, limits.idleTimeout) = (.seconds(3_600), .seconds(3_600))
        return limits
    }

    private static let request = "GET /v1/prompts HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func theFirstEventIsReadyAndTheNextOnesFollow() async throws {
        try await withServer { path, service in
            var events = try await ControlClient(socketPath: path).prompts().makeAsyncIterator()
            #expect(try await events.next() == .ready)
            await service.sendToAllPrompters(.settled(prompt: "1", outcome: .allowed))
            #expect(try await events.next() == .settled(prompt: "1", outcome: .allowed))
            #expect(await service.joined.values.first == ControlPeer(user: getuid(), process: getpid()))
        }
    }

    @Test func aSilentStreamSendsHeartbeats() async throws {
        var limits = ControlServer.Limits()
        // Far apart: on a busy machine a heartbeat may be late, which is not what is tested.
        limits.heartbeat = .milliseconds(100)
        limits.idleTimeout = .seconds(3)
        try await withServer(limits) { path, service in
            let text = try await blocking {
                let connection = try RawConnection(path)
                connection.send(Self.request)
                return connection.read(until: "\r\n:\n\n\r\n", times: 40)
            }
            #expect(
                text.contains("content-type: text/event-stream") || text.contains("Content-Type: text/event-stream"))
            #expect(text.components(separatedBy: ":\n\n").count > 40, "it outlives the idle timeout")
            await eventually { await service.left.count == 1 }
        }
    }

    @Test func aPrompterThatDisconnectsIsDetectedAtOnce() async throws {
        try await withServer(Self.silent) { path, service in
            for round in 1...5 {
                var connection: RawConnection? = try RawConnection(path)
                connection?.send(Self.request)
                _ = try await blocking { [connection] in connection?.read(until: "ready") }
                connection = nil
                await eventually("the end of prompter \(round) is detected") { await service.left.count == round }
            }
        }
    }

    @Test func aLongRequestIsCancelledWhenItsClientDisconnects() async throws {
        try await withServer { path, service in
            await service.hang()
            var connection: RawConnection? = try RawConnection(path)
            connection?.send("GET /v1/log/verify HTTP/1.1\r\nHost: a\r\n\r\n")
            await eventually { await service.requests.count == 1 }
            connection = nil
            await eventually { await service.cancelled == 1 }
        }
    }

    @Test(.requires(.program("curl"))) func aKilledPrompterIsDetectedAtOnce() async throws {
        try await withServer(Self.silent) { path, service in
            let curl = try ChildProcess("curl", ["-sSN", "--unix-socket", path, "http://applocker/v1/prompts"])
            await eventually { curl.output.contains("ready") }
            curl.kill(SIGKILL)
            _ = try await curl.wait()
            await eventually("its end is detected") { await service.left.count == 1 }
        }
    }

    @Test(.requires(.program("curl"))) func aPrompterKilledWhileItsStreamIsFullIsDetected() async throws {
        try await withServer { path, service in
            let curl = try ChildProcess("curl", ["-sSN", "--unix-socket", path, "http://applocker/v1/prompts"])
            await eventually { curl.output.contains("ready") }
            curl.kill(SIGSTOP)
            for _ in 0..<4_000 {
                await service.sendToAllPrompters(.settled(prompt: String(repeating: "x", count: 1_000), outcome: .gone))
                await Task.yield()
            }
            curl.kill(SIGKILL)
            _ = try await curl.wait()
            await eventually { await service.left.count == 1 }
        }
    }

    @Test func aReaderThatStopsReadingDelaysNoOther() async throws {
        try await withServer { path, service in
            let slow = try RawConnection(path)
            slow.send(Self.request)
            _ = try await blocking { slow.read(until: "ready") }
            let fast = try RawConnection(path)
            fast.send(Self.request)
            _ = try await blocking { fast.read(until: "ready") }
            let filler = String(repeating: "x", count: 4_000)
            for number in 1...200 {
                await service.sendToAllPrompters(.settled(prompt: "\(filler)\(number)", outcome: .gone))
                let event = try await blocking { fast.read(until: "\(filler)\(number)") }
                #expect(event.contains("settled"))
            }
            #expect(await service.left.isEmpty)
            let status = try RawConnection(path)
            status.send("GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await blocking { status.read(until: "\"status\"") }.hasPrefix("HTTP/1.1 200"))
            withExtendedLifetime(slow) {}
        }
    }

    @Test func theStreamEndsWithItsService() async throws {
        try await withServer { path, service in
            var events = try await ControlClient(socketPath: path).prompts().makeAsyncIterator()
            #expect(try await events.next() == .ready)
            for connection in await service.joined.keys { await service.prompterLeft(connection: connection) }
            #expect(try await events.next() == nil)
        }
    }
}
